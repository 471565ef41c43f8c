package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// rowsOf returns the texts of the rows of a table.
func rowsOf(tab *testkit.Tab, id string) string {
	var rows []string
	tab.Evaluate(`[...document.querySelector("`+id+`").rows].map((r) => [...r.cells].map((c) => c.textContent).join(" | "))`, &rows)
	return strings.Join(rows, "\n")
}

func listed(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, refusedByBrowser)
		show(tab, secret)
		showLists(tab)
		want := func(id, rows string) {
			t.Helper()
			if got := rowsOf(tab, id); got != rows {
				t.Errorf("%s: got\n%s\nwant\n%s", id, got, rows)
			}
		}
		want("#most-hosts", "www.example.com | 71,033 | 71,033 | 72.3 %\nimg.example.com | 20,110 | 20,493 | 20.5 %")
		want("#most-urls", "https://www.example.com/ | 12,044 | 12,044 | 12.3 %\nhttps://www.example.com/a/path/that/was/cut… | 903 | 1,286 | 0.92 %\nhttps://www.example.com/\\xc3\\xbc?q=1 | 1 | 384 | 0.001 %")
		want("#running-rows", "https://www.example.com/ws | GET | tunnel | 2001:db8::17 | default | 1 h 2 min | 200 KiB\n"+
			"https://www.example.com/report?of=\\xe2\\x80\\xae… | POST | origin | 192.0.2.1 | reports | 12 s | 0 B")
		view(tab, "most")
		if got := tab.Text("#most-note"); !strings.HasPrefix(got, "Of the last 7 min 31 s.") || !strings.Contains(got, "1/256 of all apart. 12 requests were not counted") {
			t.Errorf("got the note %q", got)
		}
		choose := func(by string) {
			tab.Evaluate(`{ const by = document.querySelector("#most-by"); by.value = "`+by+`"; by.dispatchEvent(new Event("change", {bubbles: true})); }`, nil)
		}
		choose("bytes")
		tab.Until(`document.querySelector("#most-hosts").rows.length === 1`)
		want("#most-hosts", "img.example.com | 8 GiB | 8 GiB | 88.9 %")
		choose("misses")
		want("#most-urls", "https://img.example.com/1 | 77 | 159 | 0.37 %")
		s.changeList("/top", func(list map[string]any) {
			list["hosts"].(map[string]any)["misses"].(map[string]any)["rows"].([]any)[0].(map[string]any)["at_least"] = 15009
		})
		s.changeList("/requests", func(list map[string]any) { list["total"], list["requests"] = 0, []any{} })
		tab.Until(`document.querySelector('[data-path="/top#/hosts/misses/rows/0/at_least"]').value === "15009"`)
		view(tab, "running")
		tab.Until(`document.querySelector("#running-total").textContent === "0" && !document.querySelector("#running-rows").checkVisibility()`)
	}
}

func listedHostile(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		const name = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
		s := open(t, "")
		s.changeList("/top", func(list map[string]any) {
			list["urls"].(map[string]any)["requests"].(map[string]any)["rows"].([]any)[0].(map[string]any)["name"] = name
		})
		s.changeList("/requests", func(list map[string]any) {
			one := list["requests"].([]any)[0].(map[string]any)
			one["host"], one["method"], one["route"], one["client"], one["phase"] = name, name, name, name, name
		})
		tab := s.watch(t, b)
		showLists(tab)
		var images int
		tab.Evaluate(`document.querySelectorAll("img, main script").length`, &images)
		if images != 0 {
			t.Errorf("got %d elements made of names", images)
		}
		if got := rowsOf(tab, "#most-urls") + rowsOf(tab, "#running-rows"); strings.Count(got, name) != 6 {
			t.Errorf("got %q, want the name as it is", got)
		}
	}
}

func listedNot(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.mu.Lock()
		s.lists["/top"] = map[string]any{"entries": 0, "dropped": 0, "hosts": map[string]any{}, "urls": map[string]any{}}
		s.mu.Unlock()
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, "network error: Failed to load resource: the server responded with a status of 404")
		tab.Until(live)
		view(tab, "most")
		tab.Until(`!document.querySelector("#most-off").hidden && document.querySelector("#most-on").hidden`)
		view(tab, "running")
		o := s.options
		o.Requests = nil
		use, err := s.server.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		use()
		tab.Until(`document.querySelector("#lists-said").innerText.startsWith("The listener says: no such path")`)
		if use, err = s.server.Prepare(s.options); err != nil {
			t.Fatal(err)
		}
		use()
		tab.Until(`document.querySelector("#lists-said").innerText === ""`)
	}
}
