package dashboard

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

// linked follows a link on a page of nobody's, and asks for the rest as that page: a page from a data: URL is another site to all.
func linked(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := b.Open(t, "data:text/html,<title>wiki</title><a href="+s.url()+">the dashboard</a>", desk)
		tab.Until(`document.title === "wiki"`)
		var said string
		tab.Evaluate(`fetch("`+s.url()+`status").then((r) => r.text(), () => "nothing")`, &said)
		if said != "nothing" {
			t.Errorf("another site read /status: %s", said)
		}
		tab.Click("a")
		tab.Until(live)
		if got := len(data(tab)); got < 100 {
			t.Errorf("got %d numbers, want those of all sections", got)
		}
	}
}
