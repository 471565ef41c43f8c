package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// shown reports whether all of an element can be seen.
func shown(tab *testkit.Tab, selector string) (is bool) {
	tab.Evaluate(`document.querySelector("`+selector+`").checkVisibility()`, &is)
	return is
}

// quietParts looks at a proxy that has refused nothing, shows no certificate and has asked no origin.
func quietParts(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.change(func(status map[string]any) {
			status["limits"] = map[string]any{"refused": map[string]any{}, "let_go": map[string]any{}}
			delete(status, "certificates")
			delete(status, "certificate_count")
			for _, o := range status["origins"].([]any) {
				o.(map[string]any)["first_byte"].(map[string]any)["responses"] = 0
				o.(map[string]any)["first_byte_lately"].(map[string]any)["responses"] = 0
			}
		})
		tab := s.watch(t, b)
		for of, id := range map[string]string{"limits": "limit-rows", "certificates": "certificate-rows"} {
			view(tab, of)
			if shown(tab, "#"+id) || !shown(tab, "#"+id+"-none") {
				t.Errorf("%s: the table is shown, or nothing says why it is not", id)
			}
		}
		if got, want := rowsOf(tab, "#first-bytes"), "app | 3 | 0 | – | – | – | 0 | – | – | –\nimages | 0 | 0 | – | – | – | 0 | – | – | –"; got != want {
			t.Errorf("got the origins\n%s\nwant\n%s", got, want)
		}
		s.change(func(status map[string]any) {
			status["uptime_seconds"] = 93790.5
			status["limits"].(map[string]any)["let_go"] = map[string]any{"silent": map[string]any{"total": 7, "lately": 2}}
		})
		view(tab, "limits")
		tab.Until(`document.querySelector("#limit-rows").checkVisibility()`)
		if got := tab.Text("#limit-rows"); got != "silent\tconnections without a request closed to make room for new ones\t7\t2" {
			t.Errorf("got %q", got)
		}
		if shown(tab, "#limit-rows-none") {
			t.Error("a limit was reached, and the page says that none was")
		}
	}
}

// endingCertificates looks at one of each kind. The notice begins with fewer than 14 days.
func endingCertificates(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.change(func(status map[string]any) {
			certificate := func(name string, left any) map[string]any {
				c := map[string]any{"names": []any{name}, "not_after": "2026-11-25T00:00:00Z", "days_left": left, "from": "acme"}
				if left == nil {
					c["not_after"] = nil
				}
				return c
			}
			status["certificates"] = []any{
				certificate("none.example", nil), certificate("ended.example", -1), certificate("today.example", 0), certificate("tomorrow.example", 1),
				certificate("soon.example", 13), certificate("later.example", 14),
			}
			status["certificate_count"] = 3000
		})
		tab := s.watch(t, b)
		tab.Until(`document.querySelector('nav a[href="#certificates"] .alarm').textContent.endsWith("5 to renew")`)
		notices := tab.Text("#notices")
		for _, want := range []string{"There is no certificate for none.example yet: handshakes for it fail.", "The certificate for soon.example expires in 13 days."} {
			if !strings.Contains(notices, want) {
				t.Errorf("got the notices %q, want %q", notices, want)
			}
		}
		for _, not := range []string{"later.example", "ended.example", "today.example", "tomorrow.example"} { // not soon, or problems
			if strings.Contains(notices, not) {
				t.Errorf("got the notices %q, want none of %s", notices, not)
			}
		}
		view(tab, "certificates")
		if got := tab.Text("#certificates"); !strings.Contains(got, "none.example\tACME\tnone yet\t–") || !strings.Contains(got, "2,994 more expire later.") {
			t.Errorf("got %q", got)
		}
	}
}
