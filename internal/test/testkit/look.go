package testkit

import (
	_ "embed" // the script
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
)

//go:embed look.js
var lookScript string

var (
	policyTag = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	looksMark = regexp.MustCompile(`<html[^>]* data-looks="([^"]*)"`)
)

// Look is what a page shows in a window of one width.
type Look struct {
	Width     int      // the window's, in pixels
	Clipped   []string // elements wider inside than outside, whose rest cannot be reached or lies on others
	Scrolling []string // elements wider inside than outside, in which one can scroll
	Wide      bool     // the page itself has to be scrolled sideways
	Faults    []string // marks and names of axes that cannot be read
	Written   int      // marks, names and labels on the canvases
	Canvases  int
}

// LookAtPage opens an HTML document in Chromium, in a window of each width, with all
// its details open. The document's own policy is left out, for a script of the test
// measures. Without Chromium the test is skipped.
func LookAtPage(tb testing.TB, document string, widths ...int) []Look {
	tb.Helper()
	measured := policyTag.ReplaceAllString(document, "")
	measured = strings.Replace(measured, "<head>", "<head><script>"+lookScript+"</script>", 1)
	encoded, err := json.Marshal(measured)
	if err != nil {
		tb.Fatal(err)
	}
	sizes, err := json.Marshal(widths)
	if err != nil {
		tb.Fatal(err)
	}
	// A frame is a window of any width, and one start of the browser has all of them.
	dom, _ := OpenPage(tb, fmt.Sprintf(`<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><script>
const frames = %s.map((width) => {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900; frame.srcdoc = %s;
  return document.body.appendChild(frame);
});
setInterval(() => {
  const looks = frames.map((f) => f.contentDocument.documentElement.dataset.look);
  if (looks.every(Boolean)) document.documentElement.dataset.looks = "[" + looks.join() + "]";
}, 100);
</script></body></html>`, sizes, encoded))
	m := looksMark.FindStringSubmatch(dom)
	if m == nil {
		tb.Fatal("the page was not measured in time")
	}
	var looks []Look
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &looks); err != nil {
		tb.Fatal(err)
	}
	if len(looks) != len(widths) {
		tb.Fatalf("got %d looks, want one for each of %v", len(looks), widths)
	}
	for i, l := range looks {
		if l.Width != widths[i] {
			tb.Fatalf("got a window of %d pixels, want %d", l.Width, widths[i])
		}
	}
	return looks
}

// The windows that pages are read in.
const phone = 390

func desks() []int { return []int{1300, 1600, 1920} }

// ReadablePage looks at a page of this many charts as people do: in windows from
// 1,300 to 1,920 pixels nothing is clipped and nothing has to be scrolled sideways;
// on a phone tables scroll within their own box; and the marks of the axes can be
// read in all of them.
func ReadablePage(tb testing.TB, document string, charts int) {
	tb.Helper()
	for _, l := range LookAtPage(tb, document, append(desks(), phone)...) {
		if l.Wide || len(l.Clipped) > 0 || l.Width != phone && len(l.Scrolling) > 0 {
			tb.Errorf("%d pixels: the page is too wide: %v; clipped: %q; to scroll: %q", l.Width, l.Wide, l.Clipped, l.Scrolling)
		}
		if l.Canvases != charts || l.Written < 4*charts {
			tb.Errorf("%d pixels: got %d charts with %d words in all, want %d charts with marks", l.Width, l.Canvases, l.Written, charts)
		}
		if len(l.Faults) > 0 {
			tb.Errorf("%d pixels: marks that cannot be read: %q", l.Width, l.Faults)
		}
	}
}
