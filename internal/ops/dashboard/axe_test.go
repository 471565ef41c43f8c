package dashboard

import (
	"flag"
	"os"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// axe-core is 650 KB of somebody else's, and not in the tree: make axe.
var axe = flag.String("axe", "", "`file` of axe-core's script, to look for what keeps people from using the page; empty is not to look")

// accessible has axe-core look at the page in each of its states.
func accessible(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		library, err := os.ReadFile(*axe)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		tab.Call("Page.setBypassCSP", map[string]any{"enabled": true}, nil) // axe-core is none of the page's scripts
		tab.Go(s.url())
		look := func(state string) {
			t.Helper()
			for width, dark := range map[int]bool{desk: false, phone: true} {
				tab.Width(width)
				tab.Dark(dark)
				tab.Evaluate(string(library)+"\n;undefined", nil)
				var faults []string
				tab.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) =>
					v.impact + " " + v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 120) + " " + n.failureSummary).join("; ")))`, &faults)
				if len(faults) > 0 {
					t.Errorf("%s, %d pixels: %s", state, width, strings.Join(faults, "\n"))
				}
			}
		}
		show(tab, "another")
		tab.Until(`document.querySelector("#token-why").innerText.includes("not the admin token")`)
		look("the token is asked for")
		show(tab, secret)
		tab.Until(live)
		s.answers(storedAnswer)
		s.change(func(status map[string]any) {
			status["requests"].(map[string]any)["totals"].(map[string]any)["lately"].(map[string]any)["error_ratio"] = 0.43
			status["problems"] = []any{map[string]any{"what": "43.0 % of requests failed in the last minute", "where": "origin app"}}
		})
		tab.Until(`!document.querySelector("#problems").hidden`)
		view(tab, "lookup")
		tab.Type("#lookup-url", "http://a/b")
		tab.Press("Enter")
		tab.Until(`document.querySelector("#lookup-said").innerText === "What is stored is stale."`)
		showLists(tab)
		tab.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil)
		for _, id := range viewNames(tab) {
			view(tab, id)
			look(id)
		}
		tab.Type("#purge-values", "http://a/b")
		tab.Click("#purge-form button")
		tab.Until(`document.querySelector("#confirm").open`)
		look("a purge is confirmed")
	}
}
