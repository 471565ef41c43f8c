package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// fleetEdge is the file of an edge of a fleet, in a folder of its own.
func fleetEdge(t *testing.T, origin, secret, more string) (file, state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "sightings")
	return writeFile(t, "edge.yaml", fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\n"+
		"cache: {memory: {stage_bytes: 0B}}\nfleet: {secret_file: %q}\nadmission: {state: %q, second_hit: {capacity: 5000}}\n%s", origin, secret, state, more)), state
}

// cacheStatus is that of a request for a path of the site.
func cacheStatus(t *testing.T, s *server, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "www.example.com" // the key has it
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("Cache-Status")
}

// TestANewEdgeStoresWhatItsSiblingHasSeen: with fetched sightings the first request to a new edge is stored, as on the edge that has seen it.
func TestANewEdgeStoresWhatItsSiblingHasSeen(t *testing.T) {
	t.Parallel()
	origin := cachedOrigin(t)
	secret := writeFile(t, "fleet", strings.Repeat("a secret word ", 4))
	first, _ := fleetEdge(t, origin, secret, "")
	second, state := fleetEdge(t, origin, secret, "")
	a := serveBinary(t, "-c", first)
	const held, stored = "edgeproxy; fwd=uri-miss; detail=first-sighting", "edgeproxy; fwd=uri-miss; stored"
	for n := range 50 {
		if got := cacheStatus(t, a, fmt.Sprintf("/%d", n)); got != held {
			t.Fatalf("the first edge: got %q", got)
		}
	}

	got := runBinary(t, "state", "fetch", "--from", a.admin, "-c", second)
	if got.code != exitDone || got.stderr != "" || !strings.HasPrefix(got.stdout, state+": ") || !strings.Contains(got.stdout, " of sightings, ") {
		t.Fatalf("got %+v", got)
	}
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v, want mode 0600: it holds the seed", info, err)
	}
	if left, _ := filepath.Glob(state + ".*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	b := serveBinary(t, "-c", second)
	for n := range 50 {
		if got := cacheStatus(t, b, fmt.Sprintf("/%d", n)); got != stored {
			t.Errorf("the second edge, /%d: got %q, want %q", n, got, stored)
		}
	}
	if got := cacheStatus(t, b, "/new"); got != held {
		t.Errorf("what nobody has seen: got %q", got)
	}

	// Sightings that are there are not lost by mistake, and are replaced where that is wanted.
	got = runBinary(t, "state", "fetch", "--from", a.admin, "--secret-file", secret, "--to", state)
	if got.code != exitFailed || !strings.Contains(got.stderr, "is there: --replace takes the sightings of") {
		t.Errorf("a file that is there: got %+v", got)
	}
	if got = runBinary(t, "state", "fetch", "--from", "http://"+a.admin, "--secret-file", secret, "--to", state, "--replace"); got.code != exitDone {
		t.Errorf("with --replace: got %+v", got)
	}
}

// TestSightingsAreOnlyForWhoHasTheSecret: nobody else reads them, and nothing is written of what came changed, cut or from before.
func TestSightingsAreOnlyForWhoHasTheSecret(t *testing.T) {
	t.Parallel()
	origin := cachedOrigin(t)
	secret, other := writeFile(t, "fleet", strings.Repeat("a secret word ", 4)), writeFile(t, "other", strings.Repeat("another word ", 4))
	file, _ := fleetEdge(t, origin, secret, "")
	a := serveBinary(t, "-c", file)
	get(t, "http://"+a.address+"/a")
	state := filepath.Join(t.TempDir(), "state")
	fetch := func(from, secret string) finished {
		t.Helper()
		return runBinary(t, "state", "fetch", "--from", from, "--secret-file", secret, "--to", state)
	}
	refuse := func(what string, got finished, code int, want string) {
		t.Helper()
		if got.code != code || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("%s: got %+v, want %d and %q", what, got, code, want)
		}
		if left, err := filepath.Glob(state + "*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left %q", what, left)
		}
	}
	const unsealed = "what it sent cannot be used: it is not sealed with this secret, or was changed or cut on its way"
	refuse("another secret", fetch(a.admin, other), exitFailed, a.admin+": the fleet's secret here is another one")

	recorded := []byte(nil)
	between := func(change func(body []byte) []byte) string {
		to, _ := url.Parse("http://" + a.admin)
		s := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
			ModifyResponse: func(res *http.Response) error {
				body, err := io.ReadAll(res.Body)
				if recorded == nil {
					recorded = body
				}
				body = change(body)
				res.Body, res.ContentLength = io.NopCloser(strings.NewReader(string(body))), int64(len(body))
				res.Header.Del("Content-Length")
				return err
			},
		})
		t.Cleanup(s.Close)
		return s.URL
	}
	refuse("cut", fetch(between(func(b []byte) []byte { return b[:len(b)/2] }), secret), exitFailed, unsealed)
	refuse("changed", fetch(between(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), secret), exitFailed, unsealed)
	refuse("sent before", fetch(between(func([]byte) []byte { return recorded }), secret), exitFailed, unsealed)
	refuse("empty", fetch(between(func([]byte) []byte { return nil }), secret), exitFailed, unsealed)
	refuse("a page", fetch(between(func([]byte) []byte { return []byte(strings.Repeat("<p>a page</p>", 100)) }), secret), exitFailed, unsealed)

	without := serveBinary(t, append([]string{"--origin", origin}, anyPorts...)...)
	refuse("an edge without a secret", fetch(without.admin, secret), exitFailed, "it gives no sightings: set fleet.secret_file there")
	closed, _ := net.Listen("tcp", "127.0.0.1:0")
	_ = closed.Close()
	refuse("nobody", fetch(closed.Addr().String(), secret), exitFailed, "is the proxy running")
	refuse("a short secret", fetch(a.admin, writeFile(t, "short", "secret")), exitUsage, "must be a file with a secret of 32 to 1024 bytes")
	refuse("no secret", runBinary(t, "state", "fetch", "--from", a.admin, "--to", state), exitUsage, "state fetch needs -c, or --secret-file and --to")
	refuse("no edge", runBinary(t, "state", "fetch", "-c", file), exitUsage, "state fetch needs --from")
	plain := writeFile(t, "plain.yaml", "origins: {app: {servers: [\"http://127.0.0.1:1\"]}}\n")
	refuse("a file without a secret", runBinary(t, "state", "fetch", "--from", a.admin, "-c", plain), exitUsage, "fleet.secret_file: must be a file with the secret that both edges have")

	folder := t.TempDir()
	if got := runBinary(t, "state", "fetch", "--from", a.admin, "--secret-file", secret, "--to", folder, "--replace"); got.code != exitFailed || !strings.Contains(got.stderr, folder+": must be a file, or nothing yet") {
		t.Errorf("a folder: got %+v", got)
	}
	always := serveBinary(t, "-c", writeFile(t, "always.yaml", fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\nadmission: {policy: always}\nfleet: {secret_file: %q}\n", origin, secret)))
	refuse("an edge that remembers nothing", fetch(always.admin, secret), exitFailed, "it remembers no sightings")

	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	for query, want := range map[string]int{"": 400, "?nonce=" + zeros: 400, "?nonce=ab&proof=" + zeros: 400, "?nonce=" + strings.Repeat("zz", 32) + "&proof=" + zeros: 400, "?nonce=" + zeros + "&proof=" + zeros: 403} {
		if res, _ := get(t, "http://"+a.admin+"/sightings"+query); res.StatusCode != want {
			t.Errorf("/sightings%s: got %d, want %d", query, res.StatusCode, want)
		}
	}
}

// TestACommandForSightingsNeedsAWord: state alone does nothing.
func TestACommandForSightingsNeedsAWord(t *testing.T) {
	var out testkit.Buffer
	if code := run(t.Context(), []string{"state"}, &out, &out); code != exitUsage || !strings.Contains(out.String(), "state needs fetch") {
		t.Errorf("got %d, %q", code, out.String())
	}
}
