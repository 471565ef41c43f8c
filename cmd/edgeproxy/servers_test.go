package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/edge"
)

// namedServer says its name and the Host it got, and fails health checks when told to.
type namedServer struct {
	*httptest.Server
	sick atomic.Bool
}

func startNamed(t *testing.T, name string) *namedServer {
	t.Helper()
	n := &namedServer{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" && n.sick.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if r.URL.Path == "/cached" {
			w.Header().Set("Cache-Control", "max-age=0")
			w.Header().Set("ETag", `"1"`)
		}
		fmt.Fprint(w, name, " ", r.Host)
	}))
	t.Cleanup(n.Close)
	return n
}

func (n *namedServer) address() string { return strings.TrimPrefix(n.URL, "http://") }

func serveServers(t *testing.T, origin string) *server {
	t.Helper()
	return serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {%s}}
admission: {policy: always}
`, origin)))
}

// states returns the states of the servers in /status.
func (s *server) states() string {
	s.t.Helper()
	_, text := get(s.t, "http://"+s.admin+"/status")
	var doc struct {
		Origins []edge.OriginStatus `json:"origins"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, v := range doc.Origins[0].Servers {
		out = append(out, v.State)
	}
	return strings.Join(out, " ")
}

// wantServers compares the numbers of servers of app by state in /metrics.
func (s *server) wantServers(up, ejected, down int) {
	s.t.Helper()
	_, text := get(s.t, "http://"+s.admin+"/metrics")
	for state, want := range map[string]int{"up": up, "ejected": ejected, "down": down} {
		if line := fmt.Sprintf("edgeproxy_origin_servers{origin=\"app\",state=%q} %d\n", state, want); !strings.Contains(text, line) {
			s.t.Errorf("/metrics has no line %s", line)
		}
	}
}

func (s *server) logged(level, message string) bool {
	for _, l := range s.lines() {
		if l.Level == level && l.Message == message {
			return true
		}
	}
	return false
}

// A backup gets what the checks leave without a server, says so in /status and /metrics, and is as before when the other is back.
func TestABackupStandsIn(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	c := serveServers(t, fmt.Sprintf(`servers: [%q, {url: %q, backup: true}], health: {path: /health, interval: 100ms, timeout: 1m, healthy: 1, unhealthy: 1}`, a.URL, b.URL))
	asks := func(want string) {
		t.Helper()
		eventually(t, "an answer of "+want, func() bool {
			_, body := get(t, "http://"+c.address+"/x")
			return strings.HasPrefix(body, want+" ")
		})
	}
	for range 4 {
		if _, body := get(t, "http://"+c.address+"/x"); !strings.HasPrefix(body, "a ") {
			t.Errorf("got %q, want a, which is well", body)
		}
	}
	if _, text := get(t, "http://"+c.admin+"/metrics"); !strings.Contains(text, "edgeproxy_origin_backup_requests_total{origin=\"app\"} 0\n") {
		t.Error("got requests for the backup while a is well")
	}
	a.sick.Store(true)
	asks("b")
	if _, text := get(t, "http://"+c.admin+"/status"); c.states() != "down up" || strings.Count(text, `"backup": true`) != 1 && strings.Count(text, `"backup":true`) != 1 {
		t.Errorf("got %s in %s", c.states(), text)
	}
	if _, text := get(t, "http://"+c.admin+"/metrics"); strings.Contains(text, "edgeproxy_origin_backup_requests_total{origin=\"app\"} 0\n") {
		t.Error("got no request for the backup while a is down")
	}
	a.sick.Store(false)
	asks("a")
}

// By hash each URL is at one server, the same for two proxies whose files have the servers in another order, and
// at the other one while that is out.
func TestAURLGoesToTheSameServerByHash(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	const rest = "], balance: hash, health: {path: /health, interval: 100ms, timeout: 1m, healthy: 1, unhealthy: 1}"
	first := serveServers(t, fmt.Sprintf("servers: [%q, %q", a.URL, b.URL)+rest)
	second := serveServers(t, fmt.Sprintf("servers: [%q, %q", b.URL, a.URL)+rest)
	was := map[int]string{}
	has := map[string]int{}
	ask := func(s *server, i int) string {
		r, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s/%d", s.address, i), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "site.example" // both proxies have one name, which counts
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		name, _, _ := strings.Cut(string(body), " ")
		return name
	}
	for i := range 40 {
		was[i] = ask(first, i)
		has[was[i]]++
		if again, other := ask(first, i), ask(second, i); again != was[i] || other != was[i] {
			t.Errorf("URL %d: got %s, then %s, and %s by the other proxy", i, was[i], again, other)
		}
	}
	if has["a"] < 5 || has["b"] < 5 || has["a"]+has["b"] != 40 {
		t.Errorf("got %v URLs, want both to have some", has)
	}
	a.sick.Store(true)
	eventually(t, "a is out", func() bool { return strings.Count(first.states(), "down") == 1 })
	for i := range 40 {
		if got := ask(first, i); got != "b" {
			t.Errorf("URL %d: got %s, want b, the one that is left", i, got)
		}
	}
	a.sick.Store(false)
	eventually(t, "a is back", func() bool { return first.states() == "up up" })
	for i := range 40 {
		if got := ask(first, i); got != was[i] {
			t.Errorf("URL %d: got %s, want %s again", i, got, was[i])
		}
	}
}

func TestServersShareTheRequests(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	s := serveServers(t, fmt.Sprintf("host_header: server, servers: [%q, {url: %q, weight: 2}]", a.URL, b.URL))
	got := map[string]int{}
	for i := range 9 {
		_, body := get(t, fmt.Sprintf("http://%s/%d", s.address, i))
		got[body]++
	}
	if got["a "+a.address()] != 3 || got["b "+b.address()] != 6 {
		t.Errorf("got %v, want 3 of a and 6 of b, each with its own host", got)
	}
}

// The servers that are counted are those of the file in force, by origin.
func TestServersAreCountedAfterAReload(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q, %q]}}\n", app, "http://127.0.0.1:9"))
	c.wantServers(2, 0, 0)
	c.write(fmt.Sprintf(`
origins: {app: {servers: [%q]}, other: {servers: ["http://127.0.0.1:9", {url: "http://127.0.0.1:7", backup: true}]}}
routes: [{name: default, origin: app}, {name: other, match: {path_prefix: /other}, origin: other}]
`, app))
	if got := c.reload(); got.code != exitDone {
		t.Fatalf("got %d, %q", got.code, got.stderr)
	}
	c.wantServers(1, 0, 0)
	if n := c.metric(`edgeproxy_origin_servers{origin="other",state="up"}`); n != 2 {
		t.Errorf("got %d servers of the new origin, want 2, the backup among them", n)
	}
	c.write(fmt.Sprintf("origins: {app: {servers: [%q]}}\n", app))
	if got := c.reload(); got.code != exitDone {
		t.Fatalf("got %d, %q", got.code, got.stderr)
	}
	c.wantServers(1, 0, 0)
	if _, text := get(t, "http://"+c.admin+"/metrics"); strings.Contains(text, `edgeproxy_origin_servers{origin="other"`) {
		t.Error("got servers of an origin that is gone")
	}
}

// A server goes away under way: no client sees it, and the operator does.
func TestServerThatGoesAwayIsEjected(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	s := serveServers(t, fmt.Sprintf("servers: [%q, %q], ejection: {failures: 2, backoff: 1h, max_backoff: 1h}", a.URL, b.URL))
	get(t, "http://"+s.address+"/warm")
	b.Close()
	for i := range 8 {
		if res, body := get(t, fmt.Sprintf("http://%s/%d", s.address, i)); res.StatusCode != http.StatusOK || !strings.HasPrefix(body, "a ") {
			t.Errorf("request %d: got %d and %q, want a's answer", i, res.StatusCode, body)
		}
	}
	if got := s.states(); got != "up ejected" {
		t.Errorf("got states %s, want up ejected", got)
	}
	s.wantServers(1, 1, 0)
	eventually(t, "the log says so", func() bool { return s.logged("WARN", "origin server is out") })
}

func TestHealthChecksOfAFile(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	s := serveServers(t, fmt.Sprintf("servers: [%q, %q], health: {path: /health, interval: 100ms, timeout: 1m, healthy: 1, unhealthy: 1}", a.URL, b.URL))
	b.sick.Store(true)
	eventually(t, "b is down", func() bool { return s.states() == "up down" })
	s.wantServers(1, 0, 1)
	for i := range 4 {
		if _, body := get(t, fmt.Sprintf("http://%s/%d", s.address, i)); !strings.HasPrefix(body, "a ") {
			t.Errorf("got %q, want a's answer", body)
		}
	}
	b.sick.Store(false)
	eventually(t, "b is up", func() bool { return s.states() == "up up" })
	s.wantServers(2, 0, 0)
	eventually(t, "the log says so", func() bool { return s.logged("INFO", "origin server is back") })
}

// While every server is out and requests are refused, what is stale is served, and
// all else is a 503 of its own.
func TestAllEjectedRefuses(t *testing.T) {
	t.Parallel()
	a := startNamed(t, "a")
	s := serveServers(t, fmt.Sprintf("servers: [%q], ejection: {failures: 1, backoff: 1h, max_backoff: 1h, all_ejected: refuse}", a.URL))
	if res, _ := get(t, "http://"+s.address+"/cached"); res.StatusCode != http.StatusOK {
		t.Fatalf("got %d, want 200", res.StatusCode)
	}
	a.Close()
	if res, _ := get(t, "http://"+s.address+"/x"); res.StatusCode != http.StatusBadGateway {
		t.Errorf("the request that finds out: got %d, want 502", res.StatusCode)
	}
	res, _ := get(t, "http://"+s.address+"/x")
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !strings.Contains(res.Header.Get("Cache-Status"), "detail=overload") {
		t.Errorf("got %d, Retry-After %q and Cache-Status %q, want 503, some and overload",
			res.StatusCode, res.Header.Get("Retry-After"), res.Header.Get("Cache-Status"))
	}
	if res, _ := get(t, "http://"+s.address+"/cached"); res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Cache-Status"), "edgeproxy; hit;") {
		t.Errorf("got %d and Cache-Status %q, want it served stale", res.StatusCode, res.Header.Get("Cache-Status"))
	}
}
