package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	traceOfTests  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentOfTests = "00-" + traceOfTests + "-00f067aa0ba902b7-01"
)

// traced is an origin that keeps what it was told of traces.
type traced struct {
	mu  sync.Mutex
	saw []string
}

func (o *traced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.saw = append(o.saw, r.URL.Path+" "+strings.Join(r.Header.Values("Traceparent"), "+")+" "+r.Header.Get("Tracestate"))
	w.Header().Set("Cache-Control", "max-age=600")
	_, _ = w.Write([]byte("body"))
}

// getTraced asks with a trace context and a request id, and returns the status.
func getTraced(t *testing.T, url string, parents ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Traceparent"] = parents
	r.Header.Set("Tracestate", "a=b")
	r.Header.Set("X-Request-Id", `id "1"`)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// logOf returns the lines of a log in the order of the alphabet: a streamed answer is logged when it
// has been sent, which may be after the client's next request.
func logOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestTemplateRoutesAndTracesReachTheAccessLog(t *testing.T) {
	t.Parallel()
	o := &traced{}
	backend := httptest.NewServer(o)
	defer backend.Close()
	at := strings.TrimPrefix(backend.URL, "http://")
	path := filepath.Join(t.TempDir(), "access.log")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
cache: {memory: {stage_bytes: 0B}}
access_log: {path: %q, format: template, template: '{target} {status} {result} {protocol} {scheme} {trace_id} "{request_id}" {origin} {ttl}'}
routes:
  - {name: quiet, match: {path_prefix: /quiet}, origin: app, access_log: {enabled: false}}
  - {name: none, match: {path_prefix: /none}, origin: app, access_log: {sample: 0}}
  - {name: rest, origin: app}
`, backend.URL, path)))
	for _, target := range []string{"/a", "/a", "/quiet", "/none"} {
		if status := getTraced(t, "http://"+s.address+target, parentOfTests); status != http.StatusOK {
			t.Fatalf("%s: got %d", target, status)
		}
	}
	getTraced(t, "http://"+s.address+"/b", "00-bad")
	getTraced(t, "http://"+s.address+"/c", parentOfTests, parentOfTests)
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	const request = ` HTTP/1.1 http `
	want := []string{
		`/a 200 held_back` + request + traceOfTests + ` "id \x221\x22" ` + at + " 0",
		`/a 200 miss` + request + traceOfTests + ` "id \x221\x22" ` + at + " 0",
		`/b 200 held_back` + request + `- "id \x221\x22" ` + at + " 0",
		`/c 200 held_back` + request + `- "id \x221\x22" ` + at + " 0",
	}
	if got := logOf(t, path); !slices.Equal(got, want) {
		t.Errorf("log: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	slices.Sort(o.saw)
	wantSaw := []string{
		"/a " + parentOfTests + " a=b", "/a " + parentOfTests + " a=b", "/b 00-bad a=b",
		"/c " + parentOfTests + ", " + parentOfTests + " a=b",
		"/none " + parentOfTests + " a=b", "/quiet " + parentOfTests + " a=b",
	}
	if !slices.Equal(o.saw, wantSaw) {
		t.Errorf("the origin: got %q, want %q", o.saw, wantSaw)
	}
}

// A line of a failure said only the name of the route.
func TestFailureIsLoggedWithItsRequestAndItsServer(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer backend.Close()
	dead := strings.TrimPrefix(backend.URL, "http://")
	path := filepath.Join(t.TempDir(), "access.log")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["http://%s"]}}
access_log: {path: %q, format: template, template: "{target} {status} {reason} {origin}"}
`, dead, path)))
	if status := getTraced(t, "http://"+s.address+"/a?b=c", parentOfTests); status != http.StatusBadGateway {
		t.Fatalf("got %d, want 502", status)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	if got, want := logOf(t, path), []string{"/a?b=c 502 origin-error " + dead}; !slices.Equal(got, want) {
		t.Errorf("access log: got %q, want %q", got, want)
	}
	for _, l := range s.lines() {
		if l.Message == "request failed" {
			if l.Host != s.address || l.Target != "/a?b=c" || l.Route != "default" || l.Client != "127.0.0.1" || l.Origin != dead {
				t.Errorf("got %+v, want the request and its server", l)
			}
			return
		}
	}
	t.Errorf("got no line of the failure in %v", s.lines())
}
