package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/ops/series"
)

// wantRefused reloads, and wants the words in what it says, and requests to go on.
func (c *configured) wantRefused(name, words string) {
	c.t.Helper()
	if got := c.reload(); got.code == exitDone || !strings.Contains(got.stderr, words) {
		c.t.Errorf("%s: got %d %q, want a refusal with %q", name, got.code, got.stderr, words)
	}
	if res, body := get(c.t, "http://"+c.address+"/a"); res.StatusCode != 200 || body != "hello\n" || res.Header.Get("Cache-Status") == "" {
		c.t.Errorf("%s: got %d %q %q", name, res.StatusCode, body, res.Header["Cache-Status"])
	}
}

// TestNoFileInThePlaceOfTheFile: whatever stands there, nothing changes, and the next file
// counts.
func TestNoFileInThePlaceOfTheFile(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	c := serveFile(t, good)
	step := func(name, words string, put func() error) {
		t.Helper()
		if err := os.RemoveAll(c.path); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		c.wantRefused(name, words)
		if err := os.RemoveAll(c.path); err != nil {
			t.Fatal(err)
		}
		c.write(good)
		if got := c.reload(); got.code != exitDone {
			t.Errorf("a file behind %s: got %d %q", name, got.code, got.stderr)
		}
	}
	step("nothing", "no such file", func() error { return nil })
	step("a directory", "must be a regular file", func() error { return os.Mkdir(c.path, 0o700) })
	step("a link to itself", "too many levels", func() error { return os.Symlink(filepath.Base(c.path), c.path) })
	step("a link to nothing", "no such file", func() error { return os.Symlink("nothing", c.path) })
	step("a device", "must be a regular file", func() error { return os.Symlink("/dev/zero", c.path) })
	step("an empty file", c.path, func() error { return os.WriteFile(c.path, nil, 0o600) })
	step("half a file", c.path, func() error { return os.WriteFile(c.path, []byte(withPorts(good)[:90]), 0o600) })
	step("a file beyond all bounds", "", func() error { return os.WriteFile(c.path, bytes.Repeat([]byte("# a\n"), 2<<20), 0o600) })
	if os.Geteuid() != 0 { // who may read everything
		step("a file that nobody may read", "permission denied", func() error { return os.WriteFile(c.path, []byte(withPorts(good)), 0) })
	}
}

// TestReloadsOfAConfigMap: the folder of a ConfigMap is swapped by a link, also twice in a row,
// and its last version counts without anybody asking.
func TestReloadsOfAConfigMap(t *testing.T) {
	t.Parallel()
	folder, app := t.TempDir(), cachedOrigin(t)
	swap := func(version, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, version, "edge.yaml")
		if err := os.WriteFile(file, []byte(withPorts(fmt.Sprintf("origins: {app: {servers: [%q]}}\n", app)+text)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(version, filepath.Join(folder, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	swap("..1", "")
	path := filepath.Join(folder, "edge.yaml")
	if err := os.Symlink("..data/edge.yaml", path); err != nil {
		t.Fatal(err)
	}
	c := &configured{serveBinary(t, "-c", path), path}
	silent := func() bool {
		res, _ := get(t, "http://"+c.address+"/a")
		return res.Header.Get("Cache-Status") == ""
	}
	swap("..2", "cache_status: {send: none}\n")
	eventually(t, "the second version counts", silent)
	swap("..3", "broken")
	swap("..4", "")
	if err := os.RemoveAll(filepath.Join(folder, "..2")); err != nil { // the kubelet does so
		t.Fatal(err)
	}
	eventually(t, "the last version counts", func() bool { return !silent() })
	if c.metric("edgeproxy_config_last_reload_successful") != 1 {
		t.Error("the last reload counts as refused")
	}
}

// TestReloadsByAllWaysAtOnce: a signal, a request and the watch ask at the same time, while the
// file changes. The last one is in force in the end.
func TestReloadsByAllWaysAtOnce(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	file := func(ranges int) string {
		return fmt.Sprintf("origins: {app: {servers: [%q]}}\nlimits: {ranges: %d}\n", app, ranges)
	}
	c := serveFile(t, file(1))
	var asking sync.WaitGroup
	var failed atomic.Int64
	for i := range 20 {
		c.write(file(i + 2))
		for range 2 {
			asking.Go(func() {
				if status, _, err := post(t.Context(), c.admin, "/reload", "", nil); err != nil || status != 200 {
					failed.Add(1)
				}
			})
			c.signal(syscall.SIGHUP)
		}
		get(t, "http://"+c.address+"/a")
	}
	asking.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d of 40 requests for a reload have failed", n)
	}
	if got := c.reload(); got.code != exitDone || !strings.Contains(got.stdout, "no setting has changed") {
		t.Errorf("behind all of them: got %d %q %q, want the last file in force", got.code, got.stdout, got.stderr)
	}
	status, answer, err := post(t.Context(), c.admin, "/reload", "", nil)
	if err != nil || status != 200 || !strings.Contains(strings.ReplaceAll(string(answer), " ", ""), `"changed":[]`) {
		t.Errorf("got %d %s, %v", status, answer, err)
	}
}

// TestReloadNamesListenersAndLeavesThem: another address is not opened, and none is closed.
func TestReloadNamesListenersAndLeavesThem(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\n", app))
	other, another := taken(t), taken(t)
	got := c.change(fmt.Sprintf("listen: [{address: %q}]\nadmin: {address: %q}\ncache_status: {send: none}\norigins: {app: {servers: [%q]}}\n", other, another, app))
	if got.code != exitDone || !strings.Contains(got.stdout, "needs a restart: listen") || !strings.Contains(got.stdout, "needs a restart: admin.address") || !strings.Contains(got.stdout, "changed: cache_status.send") {
		t.Errorf("got %d %q %q, want what is live applied, and both addresses named", got.code, got.stdout, got.stderr)
	}
	if res, _ := get(t, "http://"+c.address+"/a"); res.StatusCode != 200 || res.Header.Get("Cache-Status") != "" {
		t.Errorf("at the address of the start: got %d %q", res.StatusCode, res.Header["Cache-Status"])
	}
	if n := c.metric("edgeproxy_config_needs_restart_settings"); n < 2 {
		t.Errorf("got %d settings that wait, want both addresses", n)
	}
}

// TestCertificatesThatVanish: a reload is refused, and the certificate in force is shown on. A named
// pipe in the place of a file held up every later reload, and the looks at all files.
func TestCertificatesThatVanish(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t)
	text := fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
origins: {app: {servers: [%q]}}
`, certificate, key, cachedOrigin(t))
	path := writeFile(t, "edge.yaml", text)
	c := &configured{serveBinary(t, "-c", path), path}
	ask := func(two bool) int {
		return statusOf(t.Context(), c.speaks(t, two), "https://www.example.com/a")
	}
	for _, gone := range []func() error{
		func() error { return os.Rename(key, key+".away") },
		func() error { return os.Mkdir(key, 0o700) },
		func() error { return errors.Join(os.Remove(key), syscall.Mkfifo(key, 0o600)) },
	} {
		if err := gone(); err != nil {
			t.Fatal(err)
		}
		if got := c.reload(); got.code == exitDone || !strings.Contains(got.stderr, key) {
			t.Errorf("got %d %q, want a refusal that names %s", got.code, got.stderr, key)
		}
		if ask(true) != 200 || ask(false) != 200 {
			t.Error("the certificate in force is not shown any more")
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	if got := c.reload(); got.code != exitDone {
		t.Errorf("with the file again: got %d %q", got.code, got.stderr)
	}
	pipe := filepath.Join(t.TempDir(), "ca.pem")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	renameOver(t, path, strings.Replace(text, "origins: {", fmt.Sprintf("origins: {secure: {servers: [\"https://127.0.0.1:9\"], tls: {ca: %q}}, ", pipe), 1)+"routes: [{name: default, origin: app}]\n")
	if got := c.reload(); got.code == exitDone || !strings.Contains(got.stderr, "tls.ca") {
		t.Errorf("a pipe as the authority of an origin: got %d %q, want a refusal that names it", got.code, got.stderr)
	}
}

// longOrigin answers with as much as it is told to, piece by piece, and echoes what is upgraded.
func longOrigin(t *testing.T) (address string, more chan<- string) {
	t.Helper()
	pieces := make(chan string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		for p := range pieces {
			if _, err := io.WriteString(w, p); err != nil || p == "end" {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(pieces) })
	return s.URL, pieces
}

// TestOriginThatIsRemovedFinishesWhatItHas: a tunnel, a download and a stream of HTTP/2 go on
// through an origin that the file has no more, over several reloads, and end whole. Its
// connections go then.
func TestOriginThatIsRemovedFinishesWhatItHas(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t)
	one, moreOne := longOrigin(t)
	two, moreTwo := longOrigin(t)
	head := fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}, {address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
`, certificate, key)
	rest := fmt.Sprintf("origins: {app: {servers: [%q]}", cachedOrigin(t))
	path := writeFile(t, "edge.yaml", head+rest+fmt.Sprintf(`, one: {servers: [%q]}, two: {servers: [%q]}, echo: {servers: [%q]}}
routes:
  - {name: one, match: {path_prefix: /one}, origin: one}
  - {name: two, match: {path_prefix: /two}, origin: two}
  - {name: echo, match: {path_prefix: /echo}, origin: echo}
  - {name: default, origin: app}
`, one, two, echoOrigin(t)))
	c := &configured{serveBinary(t, "-c", path), path}
	secure, plain := c.addresses()[0], c.addresses()[1]
	c.address = plain
	tunnel := c.tunnel()
	c.address = secure
	var bodies []io.Reader
	for _, v := range []struct {
		two  bool
		path string
		more chan<- string
	}{{false, "/one", moreOne}, {true, "/two", moreTwo}} {
		go func() { v.more <- "begin," }()
		res, err := c.speaks(t, v.two).Get("https://www.example.com" + v.path)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: got %v, %v", v.path, res, err)
		}
		defer res.Body.Close()
		begin := make([]byte, 6)
		if _, err := io.ReadFull(res.Body, begin); err != nil || string(begin) != "begin," {
			t.Fatalf("%s: got %q, %v", v.path, begin, err)
		}
		bodies = append(bodies, res.Body)
	}
	for i := range 3 {
		renameOver(t, path, head+rest+fmt.Sprintf("}\nlimits: {ranges: %d}\n", i+1))
		if got := c.reload(); got.code != exitDone {
			t.Fatalf("got %d %q", got.code, got.stderr)
		}
		tunnel.echoes(t)
	}
	for i, more := range []chan<- string{moreOne, moreTwo} {
		more <- "goes on,"
		go func() { more <- "end" }()
		if body, err := io.ReadAll(bodies[i]); err != nil || string(body) != "goes on,end" {
			t.Errorf("download %d: got %q, %v, want the whole", i, body, err)
		}
	}
	tunnel.echoes(t)
	tunnel.Close()
	for _, name := range []string{"one", "two", "echo"} {
		eventually(t, "the connections of "+name+" go", func() bool {
			_, text := get(t, "http://"+c.admin+"/metrics")
			n := int64(0)
			for _, state := range []string{"active", "idle", "upgraded"} {
				n += metric(t, text, fmt.Sprintf("edgeproxy_origin_connections{origin=%q,state=%q}", name, state))
			}
			return n == 0
		})
	}
	for _, name := range []string{"one", "two"} {
		eventually(t, name+" is counted by its name", func() bool {
			return c.metric(fmt.Sprintf(`edgeproxy_requests_total{result="pass",route=%q,status="2xx"}`, name)) == 1
		})
	}
}

// addresses are those of the listeners, in the order of the file.
func (c *configured) addresses() []string {
	c.t.Helper()
	for _, l := range c.lines() {
		if len(l.Addresses) > 0 {
			return l.Addresses
		}
	}
	c.t.Fatal("no line tells of addresses")
	return nil
}

// TestThousandRoutes: they are applied while requests go on, and when their names change with
// each reload, their series do not add up.
func TestThousandRoutes(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	file := func(version int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "origins: {app: {servers: [%q]}}\nroutes:\n", app)
		for i := range 1000 {
			fmt.Fprintf(&b, "  - {name: r%d-%d, match: {path_prefix: /r%d}, origin: app}\n", version, i, i)
		}
		b.WriteString("  - {name: default, origin: app}\n")
		return b.String()
	}
	c := serveFile(t, file(0))
	routes := func() int {
		_, text := get(t, "http://"+c.admin+"/metrics")
		return strings.Count(text, "\nedgeproxy_collapsed_requests_total{")
	}
	for version := 1; version <= 2; version++ {
		c.write(file(version))
		begun := time.Now()
		if got := c.reload(); got.code != exitDone {
			t.Fatalf("got %d %q", got.code, got.stderr)
		}
		t.Logf("a thousand routes in the place of others: %v", time.Since(begun))
		if res, body := get(t, "http://"+c.address+"/r999"); res.StatusCode != 200 || body != "hello\n" {
			t.Errorf("got %d %q", res.StatusCode, body)
		}
		if n := c.metric(fmt.Sprintf(`edgeproxy_requests_total{result="held_back",route="r%d-999",status="2xx"}`, version)); version == 1 && n != 1 {
			t.Errorf("got %d requests of the last route, want 1", n)
		}
		if n, most := routes(), 2002+series.Kept; n > most {
			t.Errorf("version %d: got series of %d routes, want at most %d", version, n, most)
		}
	}
}
