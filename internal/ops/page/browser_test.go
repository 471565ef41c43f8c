package page

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

var (
	drawnMark = regexp.MustCompile(`<html[^>]* data-charts="drawn"`)
	errorMark = regexp.MustCompile(`<html[^>]* data-error="([^"]*)"`)
)

// scriptError is the error that the page says it had, or nothing.
func scriptError(dom string) string {
	if m := errorMark.FindStringSubmatch(dom); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

func TestBrowserDrawsEveryChart(t *testing.T) {
	t.Parallel()
	f := func(name string, p *Page, charts int) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dom, console := testkit.OpenPage(t, written(t, p))
			if got := scriptError(dom); got != "" {
				t.Errorf("got the error %q, want none", got)
			}
			if len(console) > 0 {
				t.Errorf("got a word on the console, want none: %q", console)
			}
			if got := drawnMark.MatchString(dom); got != (charts > 0) {
				t.Errorf("all charts drawn: got %v, want %v", got, charts > 0)
			}
			if got := strings.Count(dom, "<canvas"); got != charts {
				t.Errorf("got %d canvases, want one for each of %d charts", got, charts)
			}
		})
	}

	f("one of everything", sample(), 4)
	f("hostile text", filled(hostile), 2)
	f("no chart", &Page{Title: "t", Sections: []Section{{Table: policyTable()}}}, 0)
	f("few points and far ends", &Page{Title: "t", Sections: []Section{
		{Chart: &Chart{Kind: Scatter, Series: []Series{{Name: "s", X: []float64{0}, Y: []float64{0}}}}},
		{Chart: &Chart{LogY: true, XUnit: Bytes, YUnit: Bytes, Series: []Series{{Name: "s", X: []float64{0}, Y: []float64{1}}}}},
		{Chart: &Chart{XUnit: Seconds, YUnit: Seconds, Series: []Series{{Name: "s", X: []float64{0, 1e7}, Y: []float64{-1e-9, 1e-9}}}}},
	}}, 3)
}

// The policy keeps out what the page did not come with, and the test above would
// see it.
func TestBrowserRefusesWhatThePageDidNotComeWith(t *testing.T) {
	t.Parallel()
	document := written(t, sample())
	f := func(name, old, changed string, drawn bool, says string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(document, old) != 1 {
				t.Fatalf("%q occurs %d times, want it once", old, strings.Count(document, old))
			}
			dom, console := testkit.OpenPage(t, strings.Replace(document, old, changed, 1))
			if got := drawnMark.MatchString(dom); got != drawn {
				t.Errorf("all charts drawn: got %v, want %v", got, drawn)
			}
			if got := scriptError(dom) + strings.Join(console, "\n"); !strings.Contains(got, says) {
				t.Errorf("got %q, want a word of %q", got, says)
			}
		})
	}

	f("another script", "// Draws every figure", "// Draws each figure", false, "Content Security Policy")
	f("an image from elsewhere", "<header>", `<header><img src="http://127.0.0.1:9/x.png">`, true, "Content Security Policy")
	f("an inline handler", "</h1>", `</h1><svg onload="x()"></svg>`, true, "Content Security Policy")
	f("an unknown unit", `"label":"percentile","unit":"plain"`, `"label":"percentile","unit":"furlongs"`, false, "TypeError")
}
