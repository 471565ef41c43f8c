package dashboard

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/testkit"
)

// view goes to a view, as somebody who follows its link.
func view(tab *testkit.Tab, id string) {
	tab.Click(`nav a[href="#` + id + `"]`)
	tab.Until(`document.querySelector("#` + id + `").checkVisibility() && document.querySelector('nav a[aria-current="page"]').hash === "#` + id + `"`)
}

// viewNames returns the ids of all links to views.
func viewNames(tab *testkit.Tab) (ids []string) {
	tab.Evaluate(`[...document.querySelectorAll("nav a")].map((a) => a.hash.slice(1))`, &ids)
	return ids
}

// shownViews returns the ids of the views that are shown.
func shownViews(tab *testkit.Tab) string {
	var ids []string
	tab.Evaluate(`[...document.querySelectorAll("[data-view]")].filter((v) => v.checkVisibility()).map((v) => v.id)`, &ids)
	return strings.Join(ids, " ")
}

// viewsTurned goes by links, by the keyboard, back and forward, and to addresses.
func viewsTurned(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		is := func(how, id, view string) {
			t.Helper()
			tab.Until(`document.activeElement.id === "` + id + `-h"`)
			if got := shownViews(tab); got != view {
				t.Errorf("%s: got the views %q, want %s alone", how, got, view)
			}
			var current []string
			tab.Evaluate(`[...document.querySelectorAll("[aria-current]")].map((a) => a.hash)`, &current)
			if strings.Join(current, " ") != "#"+id {
				t.Errorf("%s: got %q as the current links, want #%s", how, current, id)
			}
		}
		if got := shownViews(tab); got != "overview" {
			t.Errorf("got the views %q first, want the overview", got)
		}
		view(tab, "window")
		is("a link", "window", "window")
		tab.Evaluate(`document.querySelector('nav a[href="#limits"]').focus()`, nil)
		tab.Press("Enter")
		is("the keyboard", "limits", "limits")
		tab.Evaluate(`history.back()`, nil)
		is("back", "window", "window")
		tab.Evaluate(`history.forward()`, nil)
		is("forward", "limits", "limits")
		tab.Evaluate(`document.querySelector('nav a[href="#tiers"]').click()`, nil)
		is("a section of the overview", "tiers", "overview")
		view(tab, "most")
		tab.Evaluate(`document.querySelector(".skip").focus()`, nil)
		tab.Press("Enter")
		is("the link that skips the others", "most", "most")
		tab.Evaluate(`location.hash = "#no-such-view"`, nil)
		tab.Until(`document.activeElement.id === "overview-h"`)
		tab.Go("about:blank")
		tab.Go(s.url() + "#certificates")
		tab.Until(live)
		if got := shownViews(tab); got != "certificates" {
			t.Errorf("an address with a fragment: got the views %q, want certificates", got)
		}
	}
}

// alarmsShown looks at what stands beside the links, in words.
func alarmsShown(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		alarms := func() string {
			var all []string
			tab.Evaluate(`[...document.querySelectorAll("nav .alarm")].map((a) => a.textContent && a.closest("a").hash + " " + a.textContent.replace(/[\u26a0\ufe0e]/g, "").trim()).filter(Boolean)`, &all)
			return strings.Join(all, ", ")
		}
		if got, want := alarms(), "#origins 1 out, #limits 13 lately"; got != want {
			t.Errorf("got the alarms %q, want %q", got, want)
		}
		s.change(func(status map[string]any) {
			status["problems"] = []any{map[string]any{"what": "a disk is off", "where": "/a: no"}, map[string]any{"what": "a certificate expires in 3 days", "where": "a"}}
			status["certificates"].([]any)[0].(map[string]any)["days_left"] = 3
			status["limits"] = map[string]any{"refused": map[string]any{}, "let_go": map[string]any{}}
			status["origins"].([]any)[0].(map[string]any)["servers"].([]any)[1].(map[string]any)["state"] = "up"
			status["cache"].(map[string]any)["disk"].(map[string]any)["directories"].([]any)[0].(map[string]any)["trouble"] = "no"
			status["filters"].([]any)[0].(map[string]any)["measured"].(map[string]any)["false_negatives"] = 1
		})
		tab.Until(`document.querySelector('nav a[href="#overview"] .alarm')`)
		if got, want := alarms(), "#overview 2 problems, #tiers disk off, #window sightings lost, #certificates 1 to renew"; got != want {
			t.Errorf("got the alarms %q, want %q", got, want)
		}
	}
}

// mostTall is how many pixels a view may be high on a phone.
const mostTall = 4000

// ofAFarm makes each list of the status as long as it gets.
func (s *stand) ofAFarm() {
	s.change(func(status map[string]any) {
		longer := func(list any, n int, each func(one map[string]any, i int)) (out []any) {
			first := list.([]any)[0].(map[string]any)
			for i := range n {
				one := map[string]any{}
				maps.Copy(one, first)
				each(one, i)
				out = append(out, one)
			}
			return out
		}
		status["certificates"] = longer(status["certificates"], 100, func(one map[string]any, i int) {
			one["names"], one["days_left"] = []any{fmt.Sprintf("host-with-a-long-name-%d.example.com", i)}, i
		})
		requests := status["requests"].(map[string]any)
		requests["routes"] = longer(requests["routes"], 200, func(one map[string]any, i int) { one["route"] = fmt.Sprint("route-", i) })
		status["origins"] = longer(status["origins"], 40, func(one map[string]any, i int) {
			one["name"] = fmt.Sprint("origin-", i)
			one["servers"] = longer(one["servers"], 10, func(one map[string]any, i int) {
				one["address"] = fmt.Sprintf("server-%d.example.com:9000", i)
				if i%2 == 1 {
					one["state"] = "down"
				}
			})
		})
		reasons, refused := map[string]any{}, map[string]any{}
		for i := range 40 {
			reasons[fmt.Sprint("reason-", i)] = 1
			refused[fmt.Sprint("limit-", i)] = map[string]any{"total": 1, "lately": 1}
		}
		requests["not_stored"] = reasons
		status["limits"].(map[string]any)["refused"] = refused
		var restart, problems []any
		for i := range 40 {
			restart = append(restart, map[string]any{"path": fmt.Sprint("listen.", i), "old": "a", "new": "b"})
		}
		for i := range 20 {
			problems = append(problems, map[string]any{"what": fmt.Sprintf("%d of 10 servers are up", 0), "where": fmt.Sprintf("origin origin-%d, connection refused", i)})
		}
		status["config"].(map[string]any)["needs_restart"], status["problems"] = restart, problems
	})
	for _, list := range []string{"/top", "/requests"} {
		s.changeList(list, func(of map[string]any) {
			if of["requests"] != nil {
				of["requests"] = many(of["requests"])
				return
			}
			for _, kind := range []string{"hosts", "urls"} {
				for _, by := range of[kind].(map[string]any) {
					by.(map[string]any)["rows"] = many(by.(map[string]any)["rows"])
				}
			}
		})
	}
}

// many returns the first element of a list a hundred times.
func many(list any) (out []any) {
	for range 100 {
		out = append(out, list.([]any)[:min(1, len(list.([]any)))]...)
	}
	return out
}

// viewsFit looks at each view in a window as narrow as that of a phone, with long lists, and all that can be opened open.
func viewsFit(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.ofAFarm()
		tab := s.watch(t, b)
		tab.Width(390)
		tab.Evaluate(`document.querySelectorAll("main details").forEach((d) => { d.open = true; })`, nil)
		for _, id := range viewNames(tab) {
			view(tab, id)
			switch id {
			case "most":
				tab.Until(`document.querySelector("#most-urls").rows.length === 100`)
			case "running":
				tab.Until(`document.querySelector("#running-rows").rows.length === 100`)
			case "overview":
				tab.Until(`[...document.querySelectorAll("#overview .uplot")].length === 2 && [...document.querySelectorAll("#overview .uplot")].every((u) => u.clientWidth > 0)`)
			}
			var tall, wide float64
			tab.Evaluate(`document.scrollingElement.scrollHeight`, &tall)
			tab.Evaluate(`document.scrollingElement.scrollWidth`, &wide)
			t.Logf("%s is %.0f pixels high", id, tall)
			if tall > mostTall || wide > 390 {
				t.Errorf("%s: got %.0f times %.0f pixels, want at most 390 times %d", id, wide, tall, mostTall)
			}
			var cut []string
			tab.Evaluate(`[...document.querySelectorAll("caption span, figcaption, h2, h3, summary")].filter((e) => e.checkVisibility() && !e.classList.contains("unseen")).filter((e) => {
				const r = e.getBoundingClientRect();
				return r.left < 0 || r.right > 390 || e.scrollWidth > e.clientWidth && getComputedStyle(e).display !== "inline";
			}).map((e) => e.textContent)`, &cut)
			if len(cut) > 0 {
				t.Errorf("%s: cut are %q", id, cut)
			}
		}
	}
}

// firstScreen looks at what a window of 1400 by 900 pixels shows without being scrolled.
func firstScreen(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := open(t, "").watch(t, b)
		tab.Width(1400)
		tab.Until(`innerWidth === 1400 && document.querySelectorAll("#overview canvas").length === 2`)
		var last float64
		for _, part := range []string{"#tiles", "#result-plot canvas", "#class-plot canvas"} {
			tab.Evaluate(`document.querySelector("`+part+`").getBoundingClientRect().bottom`, &last)
			if last > 900 {
				t.Errorf("%s ends %.0f pixels below the top, want at most 900", part, last)
			}
		}
	}
}

// TestTheCurvesHaveEachResult: a result that the page does not know would be missing in the stack.
func TestTheCurvesHaveEachResult(t *testing.T) {
	for _, name := range proxy.Results() {
		if !strings.Contains(chartsScript, `["`+name+`", "--`) {
			t.Errorf("the stacked curves do not have the result %s", name)
		}
	}
}
