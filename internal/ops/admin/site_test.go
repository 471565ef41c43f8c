package admin

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

const purgeOne = `{"url": "http://a/"}`

// wantAllow is the Allow of each path, "" for those that are not there.
type wantAllow map[string]string

func checkMethods(t *testing.T, g *rig, paths wantAllow) {
	t.Helper()
	for path, allow := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get"} {
			want := http.StatusOK
			switch {
			case allow == "":
				want = http.StatusNotFound
			case !strings.Contains(", "+allow+",", ", "+method+","):
				want = http.StatusMethodNotAllowed
			}
			a := g.do(method, path, purgeOne)
			if a.status != want {
				t.Errorf("%s %s: got %d, want %d", method, path, a.status, want)
			}
			if got := a.header.Get("Allow"); want == http.StatusMethodNotAllowed && got != allow {
				t.Errorf("%s %s: got Allow %q, want %q", method, path, got, allow)
			}
			if want != http.StatusOK && method != "HEAD" {
				g.errorText(a)
			}
			if method == "HEAD" && a.body != "" {
				t.Errorf("HEAD %s: got the body %q, want none", path, a.body)
			}
			if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: got header %v, want no-store and nosniff", method, path, a.header)
			}
		}
	}
}

func TestEveryPathTakesItsMethodsOnly(t *testing.T) {
	g := serve(t, mustNew(t, options()))
	checkMethods(t, g, wantAllow{
		"/": "GET, HEAD", "/livez": "GET, HEAD", "/readyz": "GET, HEAD", "/metrics": "GET, HEAD",
		"/status": "GET, HEAD", "/purge": "POST", "/paths": "GET, HEAD",
		"/reload": "", "/debug/pprof/": "", "/livez/": "", "//livez": "", "/LIVEZ": "", "/x/../livez": "", "/status.json": "",
	})
}

func TestMetricsListenerHasNothingThatActsOrTells(t *testing.T) {
	s, err := NewMetrics(MetricsOptions{
		Registry: prometheus.NewRegistry(), Ready: options().Ready, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("NewMetrics: %v", err)
	}
	g := serve(t, s)
	checkMethods(t, g, wantAllow{
		"/": "GET, HEAD", "/livez": "GET, HEAD", "/readyz": "GET, HEAD", "/metrics": "GET, HEAD",
		"/status": "", "/purge": "", "/paths": "",
	})
	if got := g.do("GET", "/metrics", "", "Host", "scrape.me:1").status; got != http.StatusOK {
		t.Errorf("any Host: got %d, want 200", got)
	}
	if got := g.do("GET", "/metrics", "", "Sec-Fetch-Site", "cross-site").status; got != http.StatusForbidden {
		t.Errorf("foreign page: got %d, want 403", got)
	}
	if got := g.do("GET", "/", "").body; strings.Contains(got, "purge") || !strings.Contains(got, "/metrics") {
		t.Errorf("index: got %q, want the three paths only", got)
	}
}

func TestIndexListsEveryPathOnce(t *testing.T) {
	s := mustNew(t, options())
	body := serve(t, s).do("GET", "/paths", "").body
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) != 8 {
		t.Fatalf("index: got %d lines, want 8: %q", len(lines), body)
	}
	for i, path := range []string{"/", "/events", "/livez", "/metrics", "/paths", "/purge", "/readyz", "/status"} {
		if f := strings.Fields(lines[i]); len(f) < 3 || f[1] != path {
			t.Errorf("index line %d: got %q, want a line for %s", i, lines[i], path)
		}
	}
}

func TestThePageIsAtTheRoot(t *testing.T) {
	if a := serve(t, mustNew(t, options())).do("GET", "/", ""); a.status != http.StatusOK || a.body != "the page" {
		t.Errorf("/: got %d %q, want the page", a.status, a.body)
	}
}

// An error that names a list of paths names one that is there.
func TestTheListThatAnErrorNamesIsThere(t *testing.T) {
	s, err := NewMetrics(MetricsOptions{Registry: prometheus.NewRegistry(), Ready: options().Ready, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("NewMetrics: %v", err)
	}
	for list, g := range map[string]*rig{"/paths": serve(t, mustNew(t, options())), "/": serve(t, s)} {
		if got, want := g.errorText(g.do("GET", "/none", "")), "no such path; "+list+" lists those there are"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := g.do("GET", list, "").body; !strings.Contains(got, "/readyz") {
			t.Errorf("%s: got %q, want the list", list, got)
		}
	}
}

func TestHealthSaysWhy(t *testing.T) {
	f := func(ok bool, reason string, wantStatus int, wantBody string) {
		t.Helper()
		o := options()
		o.Ready = func() (bool, string) { return ok, reason }
		g := serve(t, mustNew(t, o))
		if a := g.do("GET", "/readyz", ""); a.status != wantStatus || a.body != wantBody {
			t.Errorf("/readyz: got %d %q, want %d %q", a.status, a.body, wantStatus, wantBody)
		}
		if a := g.do("GET", "/livez", ""); a.status != http.StatusOK || a.body != "ok" {
			t.Errorf("/livez: got %d %q, want 200 ok whatever /readyz says", a.status, a.body)
		}
	}
	f(true, "", http.StatusOK, "ready")
	f(true, "the disk tier is out of use", http.StatusOK, "ready; the disk tier is out of use")
	f(false, "draining", http.StatusServiceUnavailable, "draining")
	f(false, "", http.StatusServiceUnavailable, "not ready")
}

func TestStatusIsWholeJSONOrAnError(t *testing.T) {
	var log record
	var value any
	o := options()
	o.Status = func() any { return value }
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	g := serve(t, mustNew(t, o))
	value = struct {
		Policy string `json:"policy"`
		Ratio  []int  `json:"ratio"`
	}{"second-hit", []int{1}}
	a := g.do("GET", "/status", "")
	if want := "{\n  \"policy\": \"second-hit\",\n  \"ratio\": [\n    1\n  ]\n}\n"; a.body != want || a.status != http.StatusOK {
		t.Errorf("got %d %q, want 200 %q", a.status, a.body, want)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: got %q, want application/json", got)
	}
	value = map[string]any{"a": 1, "never": func() {}}
	a = g.do("GET", "/status", "")
	if text := g.errorText(a); a.status != http.StatusInternalServerError || strings.Contains(text, "func") {
		t.Errorf("value that cannot be encoded: got %d %q, want 500 and nothing of the inside", a.status, text)
	}
	if !strings.Contains(log.String(), "status cannot be encoded") {
		t.Errorf("log: got %q, want the failure", log.String())
	}
}
