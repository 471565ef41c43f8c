package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgeproxy/internal/edge"
)

// configured is a program that serves a file which the test can change.
type configured struct {
	*server
	path string
}

// serveFile starts the program with a file of this content, behind addresses of its own.
func serveFile(t *testing.T, text string) *configured {
	t.Helper()
	path := writeFile(t, "edge.yaml", withPorts(text))
	return &configured{serveBinary(t, "-c", path), path}
}

func withPorts(text string) string {
	return "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\n" + text
}

// write puts another file in the place of the one that is there, as an editor does.
func (c *configured) write(text string) {
	c.t.Helper()
	renameOver(c.t, c.path, withPorts(text))
}

// change is write and reload. The file is replaced when the request for the reload is on its way, since the program sees a
// new file by itself a quarter of a second behind a write, and the reload has nothing to name then. Where it was faster all
// the same, it is done once more, from the file before.
func (c *configured) change(text string) (got finished) {
	c.t.Helper()
	before, err := os.ReadFile(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.admin})
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		renameOver(c.t, c.path, text)
		forward.ServeHTTP(w, q)
	}))
	defer relay.Close()
	for range 5 {
		got = runBinary(c.t, "reload", "--admin", relay.Listener.Addr().String())
		if !strings.Contains(got.stdout, "no setting has changed") {
			return got
		}
		renameOver(c.t, c.path, string(before))
		c.reload()
	}
	return got
}

// reload runs the command.
func (c *configured) reload(more ...string) finished {
	c.t.Helper()
	return runBinary(c.t, append([]string{"reload", "--admin", c.admin}, more...)...)
}

func (c *configured) metric(sample string) int64 {
	c.t.Helper()
	_, text := get(c.t, "http://"+c.admin+"/metrics")
	return metric(c.t, text, sample)
}

// TestReloadAppliesWhatIsLiveAndNamesTheRest.
func TestReloadAppliesWhatIsLiveAndNamesTheRest(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nadmission: {policy: always}\n", app))
	url := "http://" + c.address
	get(t, url+"/a")
	begun := c.metric("edgeproxy_config_last_reload_success_timestamp_seconds")
	got := c.change(withPorts(fmt.Sprintf(`
origins: {app: {servers: [%q]}, other: {servers: ["http://127.0.0.1:9"]}}
routes:
  - {name: other, match: {path_prefix: /other}, origin: other}
  - {name: default, origin: app}
admission: {policy: always}
cache: {memory: {max_bytes: 64MiB}}
cache_status: {send: none}
limits: {ranges: 4, write_idle_timeout: 20s}
`, app)))
	for _, want := range []string{
		"reloaded: " + c.path + "\n", "changed: limits.ranges: 16 -> 4\n", "changed: cache_status.send: all -> none\n", "changed: origins.other: now ",
		"changed: routes[other]: now ", "needs a restart: cache.memory.max_bytes: 256MiB -> 64MiB\n", "needs a restart: limits.write_idle_timeout: 30s -> 20s\n",
	} {
		if got.code != exitDone || !strings.Contains(got.stdout, want) {
			t.Errorf("got %d, %q %q, want %q in it", got.code, got.stdout, got.stderr, want)
		}
	}
	if strings.Contains(got.stdout, "origins.app") || strings.Contains(got.stdout, "routes[default]") {
		t.Errorf("got %q, want nothing of what is the same", got.stdout)
	}
	if res, _ := get(t, url+"/other"); res.StatusCode != http.StatusBadGateway || res.Header.Get("Cache-Status") != "" {
		t.Errorf("the new route: got %d, %q, want 502 of an origin that is not there, and no Cache-Status", res.StatusCode, res.Header.Get("Cache-Status"))
	}
	if again := c.reload(); again.code != exitDone || !strings.Contains(again.stdout, "no setting has changed; the files that settings name were read again\n") || !strings.Contains(again.stdout, "needs a restart: cache.memory.max_bytes") {
		t.Errorf("once more: got %q, want no change, and still what waits", again.stdout)
	}
	if n := c.metric("edgeproxy_config_needs_restart_settings"); n != 2 {
		t.Errorf("got %d settings that wait for a restart, want 2", n)
	}
	if at := c.metric("edgeproxy_config_last_reload_success_timestamp_seconds"); at < begun || c.metric("edgeproxy_config_last_reload_successful") != 1 {
		t.Errorf("got a success at %d, the start at %d", at, begun)
	}
	if res, _ := get(t, url+"/a"); res.StatusCode != 200 || c.metric(`edgeproxy_requests_total{result="hit",route="default",status="2xx"}`) != 1 {
		t.Errorf("what was stored before: got %d, want a hit", res.StatusCode)
	}
}

// TestBrokenFileChangesNothing: each problem is said with its place, and the program goes on.
func TestBrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	good := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", app)
	c := serveFile(t, good)
	f := func(name, text, want string) {
		t.Helper()
		c.write(text)
		got := c.reload()
		if got.code != exitUsage || !strings.Contains(got.stderr, c.path+want) || got.stdout != "" {
			t.Errorf("%s: got %d, %q %q, want 2 and %q", name, got.code, got.stdout, got.stderr, want)
		}
		if c.metric("edgeproxy_config_last_reload_successful") != 0 {
			t.Errorf("%s: the last reload counts as successful", name)
		}
		if res, body := get(t, "http://"+c.address+"/a"); res.StatusCode != 200 || body != "hello\n" || !strings.HasPrefix(res.Header.Get("Cache-Status"), "edgeproxy; ") {
			t.Errorf("%s: got %d %q", name, res.StatusCode, body)
		}
	}
	f("no YAML", "origins: {", ":3:10")
	f("an unknown key", good+"cache_status: {send: none, sent: all}\n", ":4:28: cache_status.sent: ")
	f("a route to nowhere", good+"cache_status: {send: none}\nroutes: [{name: a, origin: b}]\n", ":5:28: routes[0].origin: b: ")
	f("a policy without a filter", good+"cache_status: {send: none}\nadmission: {policy: counting}\n", ":5:21: admission.policy: counting: needs a restart")
	f("a slice for a larger memory", good+"cache: {slice: 16MiB, memory: {max_object_bytes: 16MiB}}\n", ":4:16: cache.slice: 16MiB: must be at most 8MiB, or a restart")
	c.write(good)
	if got := c.reload(); got.code != exitDone || c.metric("edgeproxy_config_last_reload_successful") != 1 {
		t.Errorf("a good file again: got %d %q", got.code, got.stderr)
	}
}

// A file that was refused left series of its new origins, and of each name that was tried.
func TestRefusedFileLeftSeriesOfItsOrigins(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	c := serveFile(t, good)
	c.write(`origins: {app: {servers: ["http://127.0.0.1:9"]}, fresh: {servers: ["http://127.0.0.1:9"]}, last: {servers: ["https://127.0.0.1:9"], tls: {ca: /nowhere/ca.pem}}}
routes: [{name: default, origin: app}, {name: new, match: {path_prefix: /new}, origin: fresh}]
`)
	if got := c.reload(); got.code != exitUsage || !strings.Contains(got.stderr, "/nowhere/ca.pem") {
		t.Errorf("got %d, %q, want a refusal of the file that is not there", got.code, got.stderr)
	}
	_, text := get(t, "http://"+c.admin+"/metrics")
	for _, label := range []string{`origin="fresh"`, `origin="last"`, `route="new"`} {
		if strings.Contains(text, label) {
			t.Errorf("got series of %s", label)
		}
	}
	if !strings.Contains(text, `edgeproxy_origin_requests_total{origin="app",outcome="ok"}`) {
		t.Error("got no series of the origin in force")
	}
}

// TestFileIsAppliedWhenItChanges, without anybody asking.
func TestFileIsAppliedWhenItChanges(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	c := serveFile(t, text)
	silent := func() bool {
		res, _ := get(t, "http://"+c.address+"/a")
		return res.Header.Get("Cache-Status") == ""
	}
	c.write(text + "cache_status: {send: none}\n")
	eventually(t, "it is applied", silent)
	c.write("broken")
	eventually(t, "it is refused", func() bool { return c.metric("edgeproxy_config_last_reload_successful") == 0 })
	if !silent() {
		t.Error("the refused file has changed something")
	}
	c.write(text)
	eventually(t, "it is applied again", func() bool { return !silent() })
}

// TestHangupReloads, the flags of the start over the file.
func TestHangupReloads(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	path := writeFile(t, "edge.yaml", withPorts(text))
	c := &configured{serveBinary(t, "-c", path, "--policy", "never"), path}
	c.write(text + "admission: {policy: always}\nlog: {level: debug}\n")
	c.signal(syscall.SIGHUP)
	eventually(t, "the log tells of it", func() bool { return c.logged("INFO", "configuration reloaded") })
	for range 2 {
		get(t, "http://"+c.address+"/a")
	}
	if n := c.metric(`edgeproxy_cache_writes_total{tier="memory"}`); n != 0 {
		t.Errorf("got %d writes, want none: the flag says never", n)
	}
}

func TestHangupWithoutAFileSaysSo(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--origin", cachedOrigin(t)}, anyPorts...)...)
	s.signal(syscall.SIGHUP)
	eventually(t, "the log says so", func() bool { return s.logged("WARN", "the configuration was not reloaded") })
	if got := runBinary(t, "reload", "--admin", s.admin); got.code != exitFailed || !strings.Contains(got.stderr, "without a file") {
		t.Errorf("reload: got %d %q", got.code, got.stderr)
	}
	if res, body := get(t, "http://"+s.address+"/a"); res.StatusCode != 200 || body != "hello\n" {
		t.Errorf("after SIGHUP: got %d %q", res.StatusCode, body)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}

// TestReloadWantsTheTokenAndChangesIt.
func TestReloadWantsTheTokenAndChangesIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	token := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token("first-token-of-the-test")
	path := writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\", token_file: %q}\norigins: {app: {servers: [%q]}}\n", file, cachedOrigin(t)))
	c := &configured{serveBinary(t, "-c", path), path}
	if got := c.reload(); got.code != exitFailed || !strings.Contains(got.stderr, "needs the admin token") {
		t.Errorf("without a token: got %d %q", got.code, got.stderr)
	}
	other := writeFile(t, "other", "second-token-of-the-test")
	if got := c.reload("--token-file", other); got.code != exitFailed {
		t.Errorf("another token: got %d %q", got.code, got.stderr)
	}
	first := writeFile(t, "first", "first-token-of-the-test")
	token("second-token-of-the-test")
	if got := c.reload("--token-file", first); got.code != exitDone {
		t.Errorf("with the token: got %d %q", got.code, got.stderr)
	}
	if got := c.reload("--token-file", other); got.code != exitDone {
		t.Errorf("the token as it is now: got %d %q", got.code, got.stderr)
	}
	token("no token at all")
	if got := c.reload("--token-file", other); got.code != exitUsage || !strings.Contains(got.stderr, "admin.token_file") {
		t.Errorf("a file without a token: got %d %q", got.code, got.stderr)
	}
}

// TestReloadIsInTheStatus.
func TestReloadIsInTheStatus(t *testing.T) {
	t.Parallel()
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t)))
	c.write("broken")
	c.reload()
	_, text := get(t, "http://"+c.admin+"/status")
	var s struct {
		Config edge.ReloadStatus `json:"config"`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Config.File != c.path || s.Config.Successful || !strings.Contains(s.Config.Error, c.path+":") {
		t.Errorf("got %+v, %v", s.Config, err)
	}
}

// A named pipe in the place of the file held up this reload and all that came after.
func TestPipeInThePlaceOfTheFileHeldUpReloads(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	c := serveFile(t, text)
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(c.path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.reload(); got.code == exitDone || !strings.Contains(got.stderr, "must be a regular file") {
		t.Errorf("got %d %q, want a refusal that says so", got.code, got.stderr)
	}
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	c.write(text)
	if got := c.reload(); got.code != exitDone {
		t.Errorf("a file again: got %d %q", got.code, got.stderr)
	}
}

// A storm of SIGHUP took the places of all signals that wait, and logs were not reopened.
func TestHangupsTookThePlaceOfOtherSignals(t *testing.T) {
	s := newSignals()
	in := make(chan os.Signal, 101)
	for range 100 {
		in <- syscall.SIGHUP
	}
	in <- syscall.SIGUSR1
	close(in)
	s.dispatch(in, func(os.Signal) { t.Error("nothing of it ends the process") })
	if len(s.hangup) != 1 || len(s.reopen) != 1 {
		t.Errorf("got %d and %d that wait, want one of each", len(s.hangup), len(s.reopen))
	}
}
