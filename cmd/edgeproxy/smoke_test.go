package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// anyPorts are the flags of a server that nobody else is in the way of.
var anyPorts = []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}

// cachedOrigin answers everything with hello, to be kept for ten minutes.
func cachedOrigin(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = w.Write([]byte("hello\n"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withoutStage returns the arguments of a server with this origin whose cache has no stage: what it holds back goes to the
// origin again.
func withoutStage(t *testing.T, origin string, more ...string) []string {
	t.Helper()
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\n"+
		"cache: {memory: {stage_bytes: 0B}}\n", origin)
	return append([]string{"-c", writeFile(t, "edge.yaml", file)}, more...)
}

// TestPoliciesByHand is what an operator sees with curl, with flags only, and with a cache that has no stage.
func TestPoliciesByHand(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	f := func(name string, args []string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := serveBinary(t, args...)
			for i, w := range want {
				res, body := get(t, "http://"+s.address+"/a")
				if got := res.Header.Get("Cache-Status"); !regexp.MustCompile("^edgeproxy; "+w+"$").MatchString(got) || body != "hello\n" || res.StatusCode != 200 {
					t.Errorf("request %d: got %d %q %q, want %q", i+1, res.StatusCode, got, body, w)
				}
				if _, aged := res.Header["Age"]; aged != strings.HasPrefix(w, "hit") {
					t.Errorf("request %d: has Age: %v, want it on hits only", i+1, aged)
				}
			}
		})
	}
	const stored, hit = "fwd=uri-miss; stored", `hit; ttl=\d+`

	flags := func(more ...string) []string { return append(append([]string{"--origin", app}, anyPorts...), more...) }
	f("default", flags(), "fwd=uri-miss; detail=first-sighting", hit, hit)
	f("always", flags("--policy", "always"), stored, hit)
	f("never", flags("--policy", "never"), "fwd=uri-miss; detail=never", "fwd=uri-miss; detail=never", "fwd=uri-miss; detail=never")
	f("counting", flags("--policy", "counting"), "fwd=uri-miss; detail=sighting-1-of-5", hit, hit, hit, hit, hit)
	f("without a stage", withoutStage(t, app), "fwd=uri-miss; detail=first-sighting", stored, hit)
	f("counting without a stage", withoutStage(t, app, "--policy", "counting"), "fwd=uri-miss; detail=sighting-1-of-5",
		"fwd=uri-miss; detail=sighting-2-of-5", "fwd=uri-miss; detail=sighting-3-of-5", "fwd=uri-miss; detail=sighting-4-of-5", stored, hit)
}

// applicable are the metrics of every edgeproxy that has served a request of each
// kind.
var applicable = []string{
	"edgeproxy_requests_total", "edgeproxy_request_duration_seconds", "edgeproxy_first_byte_seconds", "edgeproxy_response_bytes_total",
	"edgeproxy_origin_requests_total", "edgeproxy_origin_bytes_total", "edgeproxy_origin_first_byte_seconds",
	"edgeproxy_origin_queue_requests", "edgeproxy_origin_local_failures_total", "edgeproxy_origin_connections", "edgeproxy_origin_servers", "edgeproxy_collapsed_requests_total",
	"edgeproxy_cache_writes_total", "edgeproxy_cache_write_bytes_total", "edgeproxy_cache_held_back_total",
	"edgeproxy_cache_held_back_bytes_total", "edgeproxy_not_stored_total", "edgeproxy_cache_objects", "edgeproxy_cache_bytes",
	"edgeproxy_cache_max_bytes", "edgeproxy_cache_evictions_total", "edgeproxy_filter_fill_ratio",
	"edgeproxy_filter_false_positive_ratio", "edgeproxy_filter_window_seconds", "edgeproxy_filter_window_keys",
	"edgeproxy_filter_bytes", "edgeproxy_filter_rotations_total", "edgeproxy_requests_in_flight", "edgeproxy_inflight_bytes",
	"edgeproxy_connections", "edgeproxy_limit_rejections_total", "edgeproxy_build_info", "process_resident_memory_bytes", "go_goroutines",
}

func TestMetricsAreThereByName(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, withoutStage(t, cachedOrigin(t))...)
	for range 3 {
		get(t, "http://"+s.address+"/secret-path")
	}
	text := s.metricsAtRest()
	for _, name := range applicable {
		if !strings.Contains(text, "# TYPE "+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
	for _, line := range []string{
		`edgeproxy_requests_total{result="hit",route="default",status="2xx"} 1`,
		`edgeproxy_requests_total{result="miss",route="default",status="2xx"} 1`,
		`edgeproxy_requests_total{result="held_back",route="default",status="2xx"} 1`,
		`edgeproxy_cache_writes_total{tier="memory"} 1`,
		`edgeproxy_cache_held_back_total{route="default"} 1`,
		`edgeproxy_not_stored_total{reason="first-sighting",route="default"} 1`,
		`edgeproxy_origin_requests_total{origin="app",outcome="ok"} 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(text, "secret-path") || strings.Contains(text, s.address) {
		t.Error("a URL or host of a client is in the metrics")
	}
}

func TestAccessLogHasTheFieldsByName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\ncache: {memory: {stage_bytes: 0B}}\naccess_log: {path: %q}\n",
		cachedOrigin(t), path)))
	for range 3 {
		get(t, "http://"+s.address+"/a?b=c")
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var results, reasons []string
	for line := range strings.Lines(string(text)) {
		var l struct {
			Time                                                time.Time
			Host, Target, Method, Result, Reason, Route, Client string
			Status, Bytes                                       int
			Duration                                            float64
			FirstByte                                           *float64 `json:"first_byte"`
			Scheme, Protocol, Origin                            string
			TTL                                                 int
			UserAgent                                           string  `json:"user_agent"`
			OriginFirstByte                                     float64 `json:"origin_first_byte"`
			OriginTotal                                         float64 `json:"origin_total"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if l.Host != s.address || l.Target != "/a?b=c" || l.Method != "GET" || l.Status != 200 || l.Bytes != 6 || l.Route != "default" ||
			l.Client != "127.0.0.1" || l.Duration <= 0 || l.FirstByte == nil || time.Since(l.Time) > time.Hour {
			t.Errorf("line %s", line)
		}
		hit := l.Result == "hit"
		if l.Scheme != "http" || l.Protocol != "HTTP/1.1" || !strings.HasPrefix(l.UserAgent, "Go-http-client") ||
			hit != (l.TTL > 0) || hit != (l.Origin == "") || hit != (l.OriginFirstByte == 0) || hit != (l.OriginTotal == 0) {
			t.Errorf("line %s", line)
		}
		results, reasons = append(results, l.Result), append(reasons, l.Reason)
	}
	// A streamed answer is logged when it has been sent, which may be after the
	// client's next request: the order of the lines is not that of the requests.
	slices.Sort(results)
	slices.Sort(reasons)
	if !slices.Equal(results, []string{"held_back", "hit", "miss"}) || !slices.Equal(reasons, []string{"", "", "first-sighting"}) {
		t.Errorf("got results %q, reasons %q", results, reasons)
	}
}

// TestAdminTellsAndPurges is the admin listener of a running program.
func TestAdminTellsAndPurges(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--policy", "always", "--origin", cachedOrigin(t)}, anyPorts...)...)
	get(t, "http://"+s.address+"/a")
	for _, path := range []string{"/livez", "/readyz"} {
		if res, body := get(t, "http://"+s.admin+path); res.StatusCode != 200 {
			t.Errorf("%s: got %d %q, want 200", path, res.StatusCode, body)
		}
	}
	var status struct {
		Ready bool
		Cache struct{ Objects int }
	}
	if _, text := get(t, "http://"+s.admin+"/status"); json.Unmarshal([]byte(text), &status) != nil || !status.Ready || status.Cache.Objects != 1 {
		t.Errorf("/status: got %s", text)
	}
	res, err := http.Post("http://"+s.admin+"/purge", "application/json", strings.NewReader(fmt.Sprintf(`{"url": "http://%s/a"}`, s.address)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var purged struct{ Objects int }
	if err := json.NewDecoder(res.Body).Decode(&purged); err != nil || res.StatusCode != 200 || purged.Objects != 1 {
		t.Errorf("/purge: got %d %+v %v, want one object", res.StatusCode, purged, err)
	}
	if res, _ := get(t, "http://"+s.address+"/a"); res.Header.Get("Cache-Status") != "edgeproxy; fwd=uri-miss; stored" {
		t.Errorf("after the purge: got %q, want a miss", res.Header.Get("Cache-Status"))
	}
}
