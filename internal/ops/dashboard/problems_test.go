package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Colours of dashboard.css, in a light scheme, as a browser tells them.
const (
	goodColour = "rgb(0, 105, 76)"
	badColour  = "rgb(168, 32, 26)"
)

// colour returns the colour of the text of an element.
func colour(tab *testkit.Tab, selector string) (c string) {
	tab.Evaluate(`getComputedStyle(document.querySelector('`+selector+`')).color`, &c)
	return c
}

// The page was green, with a hit ratio of 100 %, while 43 % of all requests failed.
func problemsTold(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		tab.Dark(false)
		const errors = `#tiles [data-path="/requests/totals/lately/error_ratio"]`
		tab.Until(`matchMedia("(prefers-color-scheme: light)").matches && document.querySelector("#problems").hidden`)
		if of, link := colour(tab, errors), colour(tab, "#link"); of == badColour || link == badColour || link == goodColour {
			t.Errorf("with a notice alone: got the colours %s of errors and %s of the state", of, link)
		}
		server := func(status map[string]any) map[string]any {
			return status["origins"].([]any)[0].(map[string]any)["servers"].([]any)[1].(map[string]any)
		}
		s.change(func(status map[string]any) { server(status)["state"] = "up" })
		tab.Until(`document.querySelector("#notices").children.length === 0`)
		if of, link := colour(tab, errors), colour(tab, "#link"); of == badColour || link != goodColour {
			t.Errorf("without problems: got the colours %s of errors and %s of the state", of, link)
		}
		lately := func(status map[string]any) map[string]any {
			return status["requests"].(map[string]any)["totals"].(map[string]any)["lately"].(map[string]any)
		}
		s.change(func(status map[string]any) {
			lately(status)["error_ratio"] = 0.43
			status["problem_limits"].(map[string]any)["error_ratio"] = 0.42
			for _, v := range status["origins"].([]any)[0].(map[string]any)["servers"].([]any) {
				v.(map[string]any)["state"] = "down"
			}
			status["cache"].(map[string]any)["disk"].(map[string]any)["trouble"] = "it hangs"
			status["problems"] = []any{
				map[string]any{"what": "43.0 % of requests failed in the last minute", "numbers": map[string]any{}, "where": "origin shop, connection refused"},
				map[string]any{"what": "0 of 2 servers are up", "numbers": map[string]any{}, "where": "origin shop"},
			}
		})
		tab.Until(`!document.querySelector("#problems").hidden`)
		if got := tab.Text("#problems-said") + "\n" + tab.Text("#problems"); !strings.Contains(got, "2 problems.") || !strings.Contains(got, "43.0 % of requests failed in the last minute: origin shop, connection refused\n0 of 2 servers are up: origin shop") {
			t.Errorf("got %q", got)
		}
		if of, link := colour(tab, errors), colour(tab, "#link"); of != badColour || link != badColour {
			t.Errorf("got the colours %s of errors and %s of the state, want %s", of, link, badColour)
		}
		if got := tab.Text(errors); got != "43 %" {
			t.Errorf("got %q of errors, want 43 %%", got)
		}
		tab.Until(`document.title === "2 problems – edge1 – edgeproxy"`)
		if got := tab.Text("#notices"); got != "" {
			t.Errorf("got the notices %q, want none: the problems have it", got)
		}
		s.change(func(status map[string]any) { status["problem_limits"].(map[string]any)["error_ratio"] = 0.44 })
		tab.Until(`!document.querySelector("#tiles [data-state]")`) // the limit is that of the listener
		s.change(func(status map[string]any) {
			lately(status)["error_ratio"] = 0.01
			status["problems"] = []any{}
		})
		tab.Until(`document.querySelector("#problems").hidden && document.title === "edge1 – edgeproxy"`)
		if of, link := colour(tab, errors), colour(tab, "#link"); of == badColour || link != goodColour {
			t.Errorf("once they are over: got the colours %s of errors and %s of the state", of, link)
		}
	}
}

// What stands first on the page, and what it says of a minute without requests.
func tilesShown(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		const want = "requests a second\n882.2\nhit ratio, last minute\n80.1 %\nerrors, last minute\n0.0036 %\n" +
			"writes avoided, last hour\n8,211 for 1,203 fetches more\nfrom origins\n11.3 Mbit/s\n95 % of responses within\n87.4 ms"
		if got := tab.Text("#tiles"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s.change(func(status map[string]any) {
			status["requests"].(map[string]any)["totals"].(map[string]any)["lately"] = map[string]any{"requests": 0, "requests_per_second": 0, "hit_ratio": 0, "error_ratio": 0, "p95_seconds": 0, "origin_bytes_per_second": 0}
		})
		tab.Until(`document.querySelector("#tiles").innerText.startsWith("requests a second\n0\nhit ratio, last minute\n–\n")`)
		if got := tab.Text("#tiles"); !strings.HasSuffix(got, "within\n–") {
			t.Errorf("without requests: got %q", got)
		}
	}
}
