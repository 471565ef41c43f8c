package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// serversShown looks at what is told of each server, and at the last check.
func serversShown(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := open(t, "").watch(t, b)
		want := `app | 10.0.0.11:9000 | up | 0 | 221 | 0 | 0 | 0 | 0 | 213 ms | 31, 12, 1 | 2 | passed 3.3 s ago | – | Drain
app | 10.0.0.12:9000 | ejected, next trial in 13 s | 0 | 0 | 0 | 0 | 0 | 0 | – | 0, 0, 0 | 1 | failed 3.5 s ago: health check: got status 503, must be 200 to 399 | connection refused | Drain
images | 10.0.0.21:9000 | up | 0 | 221 | 0 | 0 | 0 | 0 | 4.3 ms | 4, 7, 0 | 1 | – | – | Drain`
		if got := rowsOf(tab, "#servers"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// drained drains a server by the keyboard, takes one back, and is refused.
func drained(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, "network error: Failed to load resource: the server responded with a status of 400")
		show(tab, secret)
		tab.Until(live)
		press := func(button, asks string) {
			t.Helper()
			tab.Evaluate(`document.querySelector('button[aria-label="`+button+`"]').focus()`, nil)
			tab.Press("Enter")
			tab.Until(`document.querySelector("#confirm").open && document.activeElement.id === "confirm-no"`)
			if got := tab.Text("#confirm"); !strings.Contains(got, asks) {
				t.Errorf("%s: got %q asked, want %q", button, got, asks)
			}
		}
		const first = "10.0.0.11:9000 of origin app"
		press("Drain: "+first, "This server gets no new requests until it is ready again, or the proxy is restarted:\n\n"+first)
		tab.Press("Escape")
		tab.Until(`!document.querySelector("#confirm").open`)
		press("Drain: "+first, first)
		tab.Click("#confirm-yes")
		tab.Until(`document.querySelector("#origins-said").innerText === "Server 10.0.0.11:9000 of origin app is drained."`)
		tab.Until(`document.querySelector('nav a[href="#origins"]').textContent.endsWith("1 out, 1 drained")`)
		press("Ready: "+first, "This server gets requests again:")
		tab.Click("#confirm-yes")
		tab.Until(`document.querySelector('button[aria-label="Drain: ` + first + `"]')`)
		press("Drain: 10.0.0.21:9000 of origin images", "10.0.0.21:9000 of origin images")
		tab.Click("#confirm-yes")
		tab.Until(`document.querySelector("#origins-said").innerText === "The listener says: origin images: <b>no</b>."`)
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := strings.Join(s.drained, ", "); got != "app 10.0.0.11:9000 true, app 10.0.0.11:9000 false" {
			t.Errorf("got %q done", got)
		}
	}
}
