package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// The page asks for fields of /status by their names. One that is renamed would leave a dash.
func TestTheDashboardShowsWhatTheRunningProgramSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "edge.yaml")
	text := fmt.Sprintf(`origins: {app: {servers: [%q]}}
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
routes: [{name: default, origin: app}]
metrics: {top: {entries: 100}}
admission: {shadow: [{policy: always}, {policy: second-hit}]}
cache: {memory: {stage_bytes: 16MiB}, disk: {path: %q, max_bytes: 1GiB}}
`, taggedOrigin(t), filepath.Join(dir, "disk"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := testkit.OpenBrowser(t)
	s := serveBinary(t, "-c", file)
	for range 3 {
		get(t, "http://"+s.address+"/x/a")
	}
	tab := b.Open(t, "http://"+s.admin+"/", 1280)
	tab.Until(`document.querySelector('[data-path="/requests/totals/requests"]').textContent === "3"`)
	for range 4 { // while it is open
		get(t, "http://"+s.address+"/x/a")
	}
	tab.Until(`document.querySelector('[data-path="/requests/totals/requests"]').textContent === "7"`)
	tab.Click(`nav a[href="#most"]`)
	tab.Until(`document.querySelector('[data-path="/top#/urls/requests/rows/0/at_least"]')?.textContent === "7"`)
	var wrong []string
	if !testkit.ComesTrue(func() bool { wrong = differing(t, tab, s); return len(wrong) == 0 }) {
		t.Errorf("the page differs from /status: %q", wrong)
	}
	if said := tab.Console(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
	for _, to := range tab.Requests() {
		if !strings.HasPrefix(to, "http://"+s.admin+"/") && !strings.HasPrefix(to, "data:,") {
			t.Errorf("the page asked for %s", to)
		}
	}
}

// An operator who opens the page while the origin fails must see it first.
func TestTheDashboardIsRedWhileTheOriginFails(t *testing.T) {
	t.Parallel()
	b := testkit.OpenBrowser(t)
	origin := httptest.NewServer(http.NotFoundHandler())
	s := serveBinary(t, "--origin", origin.URL, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	tab := b.Open(t, "http://"+s.admin+"/", 1280)
	tab.Dark(false)
	tab.Until(`document.documentElement.dataset.link === "live" && document.querySelector("#problems").hidden`)
	origin.Close()
	for range 20 {
		get(t, "http://"+s.address+"/x")
	}
	tab.Until(`document.querySelector("#problem-rows").innerText.includes("100.0 % of requests failed in the last ")`)
	tab.Until(`document.querySelector("#problem-rows").innerText.includes("origin app, connection refused")`)
	const errors = `#tiles [data-path="/requests/totals/lately/error_ratio"]`
	if got := tab.Text(errors); got != "100 %" {
		t.Errorf("got errors of %q, want 100 %%", got)
	}
	for _, part := range []string{errors, "#link", "#problems-said"} {
		var colour, bad string
		tab.Evaluate(`getComputedStyle(document.querySelector('`+part+`')).color`, &colour)
		tab.Evaluate(`getComputedStyle(document.querySelector("#problems")).borderLeftColor`, &bad)
		if colour != bad {
			t.Errorf("%s: got the colour %s, want %s", part, colour, bad)
		}
	}
	tab.Until(`document.title.includes("problem")`)
}

// differing lists the numbers of the page that are not those of /status, but for what changes by itself.
func differing(t *testing.T, tab *testkit.Tab, s *server) (wrong []string) {
	t.Helper()
	var all []struct{ Path, Value string }
	tab.Evaluate(`[...document.querySelectorAll("data")].map((d) => ({path: d.dataset.path, value: d.value}))`, &all)
	documents := map[string]any{}
	for _, path := range []string{"/status", "/top", "/requests"} {
		_, text := get(t, "http://"+s.admin+path)
		var document any
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		documents[path] = document
	}
	if len(all) < 100 {
		return []string{fmt.Sprint(len(all), " numbers")}
	}
	for _, d := range all {
		document, pointer, other := strings.Cut(d.Path, "#")
		if !other {
			document, pointer = "/status", d.Path
		}
		want, got := fmt.Sprint(pointed(documents[document], pointer)), d.Value
		if (strings.HasSuffix(d.Path, "_seconds") || strings.HasSuffix(d.Path, "_per_second")) && got != "" && want != "<nil>" {
			continue
		}
		if n, err := strconv.ParseFloat(got, 64); err == nil {
			got = fmt.Sprint(n)
		}
		if got != want {
			wrong = append(wrong, d.Path+": "+got+", must be "+want)
		}
	}
	return wrong
}

// pointed returns what stands at a JSON Pointer without escapes.
func pointed(value any, path string) any {
	for _, step := range strings.Split(path, "/")[1:] {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}
