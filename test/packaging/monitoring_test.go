package packaging

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"edgeproxy/internal/test/testkit"
)

const (
	rulesFile = "packaging/prometheus/edgeproxy.rules.yaml"
	testsFile = "packaging/prometheus/edgeproxy.rules.test.yaml"
	dashboard = "packaging/grafana/edgeproxy.json"
)

// promtool checks what Prometheus reads.
func promtool(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	testkit.Slow(t, "it runs promtool")
	testkit.Plain(t, "promtool does the work")
	return exec.Command(testkit.Program(t, "promtool"), arguments...)
}

// rule is one rule of rulesFile.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	var f struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal([]byte(text(t, rulesFile)), &f); err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 20 {
		t.Fatalf("got %d rules, want those of %s", len(all), rulesFile)
	}
	return all
}

// query is an expression of the dashboard.
type query struct{ panel, expr string }

// queries returns all of the dashboard, with variables replaced as Grafana does.
func queries(t *testing.T) (all []query) {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
		Annotations struct{ List []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(text(t, dashboard)), &d); err != nil {
		t.Fatal(err)
	}
	replace := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	for _, p := range d.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q has no query", p.Title)
		}
		for _, g := range p.Targets {
			all = append(all, query{p.Title, replace.Replace(g.Expr)})
		}
	}
	for _, a := range d.Annotations.List {
		all = append(all, query{"annotations", replace.Replace(a.Expr)})
	}
	if len(all) < 40 {
		t.Fatalf("got %d queries, want those of %s", len(all), dashboard)
	}
	return all
}

func TestPrometheusReadsTheRules(t *testing.T) {
	t.Parallel()
	run(t, promtool(t, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(root, rulesFile)))
}

func TestEachAlertFiresInItsTestAndNotOfAHealthyEdge(t *testing.T) {
	t.Parallel()
	cmd := promtool(t, "test", "rules", filepath.Base(testsFile))
	cmd.Dir = filepath.Join(root, filepath.Dir(testsFile))
	run(t, cmd)

	var f struct {
		Tests []struct {
			Name   string
			Series []struct{ Series string } `yaml:"input_series"`
			Exprs  []struct {
				Expr    string
				Samples []struct{ Labels string } `yaml:"exp_samples"`
			} `yaml:"promql_expr_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(text(t, testsFile)), &f); err != nil {
		t.Fatal(err)
	}
	healthy := map[string]bool{} // metrics
	fires := map[string]bool{}
	for _, c := range f.Tests {
		for _, s := range c.Series {
			if name, _, _ := strings.Cut(s.Series, "{"); c.Name == "healthy" {
				healthy[name] = true
			}
		}
		for _, e := range c.Exprs {
			if !strings.Contains(e.Expr, "ALERTS") {
				continue
			}
			if c.Name == "healthy" && len(e.Samples) > 0 {
				t.Errorf("the healthy edge has %v, want nothing", e.Samples)
			}
			for _, s := range e.Samples {
				fires[c.Name] = fires[c.Name] || strings.Contains(s.Labels, fmt.Sprintf("alertname=%q", c.Name))
			}
		}
	}
	for _, r := range rules(t) {
		if r.Alert != "" && !fires[r.Alert] {
			t.Errorf("no test in which %s fires", r.Alert)
		}
		for _, name := range metrics(r.Expr) {
			if !healthy[name] {
				t.Errorf("%s%s: the healthy edge of the tests has no %s", r.Record, r.Alert, name)
			}
		}
	}
}

// TestEachAlertHasItsRunbook follows runbook_url into the manual: a heading of the alert's name, and
// a paragraph under it. The link was to a file on the machine of the reader.
func TestEachAlertHasItsRunbook(t *testing.T) {
	t.Parallel()
	const page = "docs/operating/failures.md"
	const link = "{{ with $externalLabels.edgeproxy_docs }}{{ . }}/{{ end }}" + page + "#"
	manual := text(t, page)
	alerts := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		alerts[r.Alert] = true
		if got, want := r.Annotations["runbook_url"], link+strings.ToLower(r.Alert); got != want {
			t.Errorf("%s: got runbook_url %q, want %q", r.Alert, got, want)
		}
		if r.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s: want a summary, and a severity of critical, warning or info", r.Alert)
		}
		if _, after, ok := strings.Cut(manual, "\n### "+r.Alert+"\n"); !ok || len(firstParagraph(after)) < 80 {
			t.Errorf("%s: docs/operating/failures.md has no section of this name that says what to do", r.Alert)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Edgeproxy\w+)$`).FindAllStringSubmatch(manual, -1) {
		if !alerts[m[1]] {
			t.Errorf("docs/operating/failures.md has a section %s, and there is no such alert", m[1])
		}
	}
}

func firstParagraph(s string) string {
	p, _, _ := strings.Cut(strings.TrimLeft(s, "\n"), "\n\n")
	if strings.HasPrefix(p, "#") {
		return ""
	}
	return p
}

// TestPrometheusReadsTheQueriesOfTheDashboard has them read as rules.
func TestPrometheusReadsTheQueriesOfTheDashboard(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, q := range queries(t) {
		fmt.Fprintf(&b, "  - record: query:%d\n    expr: %q\n", i, q.expr)
	}
	run(t, promtool(t, "check", "rules", write(t, "queries.yaml", b.String())))
}

func TestTheDashboardHasPlacesForAllPanels(t *testing.T) {
	t.Parallel()
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal([]byte(text(t, dashboard)), &d); err != nil {
		t.Fatal(err)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		g := p.GridPos
		if ids[p.ID] || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("panel %q: want an id of its own, and a place within 24 columns, not %+v", p.Title, g)
		}
		ids[p.ID] = true
		for x := range g.W {
			for y := range g.H {
				at := [2]int{g.X + x, g.Y + y}
				if other, ok := taken[at]; ok {
					t.Fatalf("panels %q and %q are in one place", other, p.Title)
				}
				taken[at] = p.Title
			}
		}
	}
}

var metricName = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// metrics returns the names of metrics of the program that an expression has. Names with colons are
// records of rules.
func metrics(expr string) (names []string) {
	for _, name := range metricName.FindAllString(expr, -1) {
		if strings.HasPrefix(name, "edgeproxy_") || strings.HasPrefix(name, "process_") {
			names = append(names, name)
		}
	}
	return names
}

// TestRulesAndDashboardNameMetricsThatThereAre compares them with a scrape of the program, which has
// everything on that has metrics of its own.
func TestRulesAndDashboardNameMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	named := map[string]string{} // keys are places
	records := map[string]bool{}
	for _, r := range rules(t) {
		records[r.Record] = true
	}
	for _, r := range rules(t) {
		for _, name := range metrics(r.Expr) {
			named[name] = rulesFile + ": " + r.Record + r.Alert
		}
		for _, name := range metricName.FindAllString(r.Expr, -1) {
			if strings.HasPrefix(name, "instance") && strings.Contains(name, ":") && !records[name] {
				t.Errorf("%s: there is no record %s", r.Alert, name)
			}
		}
	}
	for _, q := range queries(t) {
		for _, name := range metrics(q.expr) {
			named[name] = dashboard + ": " + q.panel
		}
	}
	served := serve(t)
	for range 3 {
		res, err := http.Get("http://" + served.Addresses[0] + "/")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	var page string
	missing := func() (names []string) {
		page = scrape(t, served.Admin)
		for name, where := range named {
			if !strings.Contains(page, "\n"+name+"{") && !strings.Contains(page, "\n"+name+" ") {
				names = append(names, name+" ("+where+")")
			}
		}
		slices.Sort(names)
		return names
	}
	if !testkit.ComesTrue(func() bool { return len(missing()) == 0 }) {
		t.Errorf("a scrape of the program has no\n%s", strings.Join(missing(), "\n"))
	}
	if want := "edgeproxy_filter_window_max_seconds{filter=\"second_hit\"} 7200\n"; !strings.Contains(page, want) {
		t.Errorf("a scrape has no %q: two generations of an hour each", want)
	}
	cmd := promtool(t, "check", "metrics")
	cmd.Stdin = strings.NewReader(page)
	run(t, cmd)
}

// serve starts the built program with every feature that has metrics of its own.
func serve(t *testing.T) *testkit.Served {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = io.WriteString(w, "body")
	}))
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	pair := testkit.NewAuthority(t).Sign(time.Now().Add(time.Hour), "localhost")
	testkit.WritePair(t, pair, filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem"))
	file := write(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls:
  certificates: [{certificate: %[1]s/c.pem, key: %[1]s/k.pem}]
  acme: {names: [edge.test], accept_terms: true, directory: "https://127.0.0.1:1/directory", storage: %[1]s/acme}
origins: {app: {servers: [%[2]q]}}
cache: {disk: {path: %[1]s/disk, max_bytes: 256MiB}}
limits: {spool_path: %[1]s}
admission:
  second_hit: {rotate_every: 1h}
  shadow: [{policy: always}]
access_log: {path: %[1]s/access.log}
`, dir, origin.URL))
	return testkit.Serve(t, exec.Command(testkit.Built(t), "serve", "-c", file), func(testkit.LogLine, string) bool { return true })
}

func scrape(t *testing.T, admin string) string {
	t.Helper()
	res, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	return string(b)
}
