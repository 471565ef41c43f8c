package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// answers gives the answer to look-ups, and forgets what was asked.
func (s *stand) answers(found string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.asked = found, nil
}

// done returns what was looked up and purged.
func (s *stand) done() (asked, purged string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, "; "), strings.Join(s.purged, "; ")
}

// answered returns the names and texts of the answer to a look-up, a line each.
func answered(tab *testkit.Tab) string {
	var lines []string
	tab.Evaluate(`[...document.querySelectorAll("#lookup-answer dt")].map((dt) => dt.innerText + ": " + dt.nextElementSibling.innerText)`, &lines)
	return strings.Join(lines, "\n")
}

const storedAnswer = `{"method": "GET", "url": "http://a/b", "route": "default", "policy": "second-hit",
"key": {"url": "http://a/b", "vary": ["accept-language"], "variant": "accept-language: <i>de</i>", "hash": "00ff", "counted_by": "00aa"},
"sightings": {"within_window": 1, "counted": false},
"stored": {"tier": "disk", "status": 203, "bytes": 2048, "age_seconds": 61.5, "ttl_seconds": -3.2, "tags": 3, "tag_names": ["<b>post-1</b>", "home"], "purged": "soft"},
"next": {"result": "validate", "admitted": true, "text": "What is stored is stale."}}`

func lookedUp(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		view(tab, "lookup")
		s.answers(storedAnswer)
		tab.Type("#lookup-url", "http://a/b?c=d&e=%20f")
		tab.Type("#lookup-fields", "Accept-Language: de\nX-A: b&c=d")
		tab.Click("#lookup-form button")
		tab.Until(`document.querySelector("#lookup-said").innerText === "What is stored is stale."`)
		if asked, _ := s.done(); asked != "GET http://a/b?c=d&e=%20f Accept-Language: de X-A: b&c=d" {
			t.Errorf("got %q asked", asked)
		}
		want := `route: default
policy: second-hit
key: http://a/b
varies by: accept-language
variant: accept-language: <i>de</i>
hash: 00ff
counted by: 00aa
sightings within the window: one or more
stored: in the tier disk
status: 203
body: 2 KiB
age: 1 min 1 s
time to live: expired 3.2 s ago
tags: 3: <b>post-1</b>, home
purged: soft: it is validated before it is used
next request: validate`
		if got := answered(tab); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		s.answers(`{"key": {"url": "http://a/c", "hash": "00ff", "counted_by": "00ff"}, "sightings": {"within_window": 3, "counted": true}, "stored": null,
		"next": {"result": "miss", "reason": "too-few-sightings", "text": "Nothing is stored."}}`)
		tab.Type("#lookup-url", "http://a/c")
		tab.Press("Enter")
		tab.Until(`document.querySelector("#lookup-said").innerText === "Nothing is stored."`)
		want = "key: http://a/c\nhash: 00ff\nsightings within the window: 3\nstored: no\nnext request: miss\nreason: too-few-sightings"
		if got := answered(tab); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func refusedTold(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, "network error: Failed to load resource: the server responded with a status of 400")
		tab.Until(live)
		view(tab, "lookup")
		tab.Type("#lookup-url", "a")
		tab.Press("Enter")
		tab.Until(`document.querySelector("#lookup-said").innerText === "The listener says: url: <b>no</b> scheme."`)
		view(tab, "purge")
		tab.Type("#purge-values", "bad")
		tab.Click("#purge-form button")
		tab.Click("#confirm-yes")
		tab.Until(`document.querySelector("#purge-said").innerText === "The listener says: bad: no scheme."`)
		if got := answered(tab); got != "" {
			t.Errorf("got %q beside an error", got)
		}
	}
}

func purgeConfirmed(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		view(tab, "purge")
		f := func(by, values string, soft bool, what, said, want string) {
			t.Helper()
			tab.Evaluate(`document.querySelector("#purge-by").value = "`+by+`"; document.querySelector("#purge-soft").checked = `+map[bool]string{true: "true", false: "false"}[soft], nil)
			tab.Type("#purge-values", values)
			tab.Click("#purge-form button")
			tab.Until(`document.querySelector("#confirm").open && document.activeElement.id === "confirm-no"`)
			if got := tab.Text("#confirm"); !strings.Contains(got, what) || !strings.Contains(got, strings.TrimSpace(strings.Split(values, "\n")[0])) {
				t.Errorf("%s: got %q asked, want %q", by, got, what)
			}
			if _, purged := s.done(); strings.HasSuffix(purged, want) {
				t.Errorf("%s: purged before it was confirmed", by)
			}
			tab.Press("Tab")
			tab.Until(`document.activeElement.id === "confirm-yes"`)
			tab.Press("Enter")
			tab.Until(`document.querySelector("#purge-said").innerText === "` + said + `" && !document.querySelector("#confirm").open`)
			if _, purged := s.done(); !strings.HasSuffix(purged, want) {
				t.Errorf("%s: got %q purged, want %q", by, purged, want)
			}
		}
		f("url", " http://a/b \n\nhttp://a/c", false, "The stored responses of these URLs are removed:", "Purged: 7 objects.", "url http://a/b http://a/c")
		f("prefix", "http://a/p/", true, "The stored responses of this prefix become stale:", "Made stale: 7 objects.", "soft prefix http://a/p/")
		f("host", "a", false, "The stored responses of this host are removed:", "Purged: 7 objects.", "host a")
		f("tag", "<b>t</b>", false, "The stored responses of this tag are removed:", "Purged. The number of objects is not known.", "tag <b>t</b>")
	}
}

func purgeTakenBack(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		view(tab, "purge")
		tab.Type("#purge-values", "http://a/")
		for _, back := range []func(){func() { tab.Press("Escape") }, func() { tab.Press("Enter") }} { // the focus is on Cancel
			tab.Click("#purge-form button")
			tab.Until(`document.querySelector("#confirm").open && document.activeElement.id === "confirm-no"`)
			back()
			tab.Until(`!document.querySelector("#confirm").open`)
		}
		if _, purged := s.done(); purged != "" {
			t.Errorf("got %q purged, want nothing", purged)
		}
		tab.Type("#purge-values", " \n")
		tab.Click("#purge-form button")
		tab.Until(`document.querySelector("#purge-said").innerText === "Want at least one value." && !document.querySelector("#confirm").open`)
	}
}

func formsShowToken(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab)
		show(tab, secret)
		tab.Until(live)
		view(tab, "lookup")
		s.answers(storedAnswer)
		tab.Type("#lookup-url", "http://a/b")
		tab.Press("Enter")
		tab.Until(`document.querySelector("#lookup-said").innerText === "What is stored is stale."`)
		view(tab, "purge")
		tab.Type("#purge-values", "http://a/b")
		tab.Click("#purge-form button")
		tab.Click("#confirm-yes")
		tab.Until(`document.querySelector("#purge-said").innerText === "Purged: 7 objects."`)
	}
}
