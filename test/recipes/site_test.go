package recipes

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// site is the origin of one proxy. It counts what it is asked.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	asked map[string]int
	last  *http.Request
}

func newSite(t *testing.T) *site {
	t.Helper()
	testkit.Slow(t, "it is an origin of the built program")
	testkit.Plain(t, "the program does the work")
	s := &site{asked: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) address() string { return s.Listener.Addr().String() }

// ServeHTTP answers as the path says, and counts.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/health" { // health checks come at times of their own
		return
	}
	s.mu.Lock()
	s.asked[r.Method+" "+r.URL.String()]++
	s.last = r
	s.mu.Unlock()
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/static/old"):
		w.Header().Set("Cache-Control", "max-age=0")
	case strings.HasPrefix(path, "/static/"):
		w.Header().Set("Cache-Control", "no-cache")
	case path == "/internal/moved":
		w.Header().Set("Location", "/internal/list")
		w.WriteHeader(http.StatusFound)
		return
	case path == "/big":
		w.Header().Set("X-Powered-By", "Go")
		_, _ = io.WriteString(w, strings.Repeat("big ", 1000))
		return
	case strings.HasPrefix(path, "/private"):
		w.Header().Set("Cache-Control", "private, max-age=600")
	case strings.HasPrefix(path, "/missing"):
		w.WriteHeader(http.StatusNotFound)
		return
	case strings.HasPrefix(path, "/cookie"):
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Set-Cookie", "seen=1")
	case strings.HasPrefix(path, "/dated"):
		w.Header().Set("Last-Modified", time.Now().Add(-240*time.Hour).UTC().Format(http.TimeFormat))
	default:
		w.Header().Set("Cache-Control", "max-age=600")
	}
	_, _ = io.WriteString(w, "content of "+path)
}

// requests is one target, asked for some times, one after the other.
type requests struct {
	method string // "": GET
	target string
	times  int
	cookie string
	reload bool // with no-cache, as a browser's reload button sends it
}

// story is what clients of every proxy do. Targets are asked for so often that all four proxies have to tell
// what is stored from what is not.
func story() []requests {
	return []requests{
		{target: "/page", times: 4},
		{target: "/once", times: 1},
		{target: "/page?a=1", times: 2},
		{target: "/page?a=2", times: 3},
		{target: "/static/logo.svg", times: 4},
		{target: "/static/style.css", times: 4, cookie: "other=1"},
		{target: "/api/list", times: 3},
		{target: "/private", times: 3},
		{method: http.MethodPost, target: "/form", times: 2},
		{method: http.MethodHead, target: "/page", times: 2},
		{target: "/page", times: 2, reload: true},
	}
}

// play sends the requests to the proxy at address, and returns what its origin was asked.
func (s *site) play(t *testing.T, address string, all []requests) map[string]int {
	t.Helper()
	client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, r := range all {
		for range r.times {
			req, err := http.NewRequestWithContext(t.Context(), r.method, "http://"+address+r.target, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "www.example.com"
			if r.cookie != "" {
				req.Header.Set("Cookie", r.cookie)
			}
			if r.reload {
				req.Header.Set("Cache-Control", "no-cache")
				req.Header.Set("Pragma", "no-cache")
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || r.method == "" && res.StatusCode == http.StatusOK && string(body) != "content of "+req.URL.Path {
				t.Fatalf("%s: got %q and %v", r.target, body, err)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// exchange is a request with what its client got, and what the origin was told of it.
type exchange struct {
	status int
	header http.Header // fields of the response
	asked  bool        // the origin was
	target string      // URL that the origin was asked for
	heard  http.Header // fields that it got
}

// exchange sends a GET with these fields, each a name and a value, to the proxy at address.
func (s *site) exchange(t *testing.T, address, target string, fields ...string) exchange {
	t.Helper()
	s.mu.Lock()
	s.last = nil
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "www.example.com"
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "Host" {
			req.Host = fields[i+1]
		}
		req.Header.Set(fields[i], fields[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := exchange{status: res.StatusCode, header: res.Header}
	if s.last != nil {
		e.asked, e.target, e.heard = true, s.last.URL.String(), s.last.Header
	}
	return e
}
