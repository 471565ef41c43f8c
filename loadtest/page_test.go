package main

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/ops/page"
	"edgeproxy/internal/test/testkit"
)

// reported is the report of a run under always, second-hit with a stage, and nginx.
func reported(t *testing.T) *document {
	t.Helper()
	d := &document{
		name:  "x.tr",
		Trace: trace.Facts{Requests: 2000, Objects: 900, RequestBytes: 10 << 20, UniqueBytes: 4 << 20, OneHitObjects: 300},
		Run:   runFacts{MaxBytes: 1 << 20, MaxObjectBytes: 1 << 18, Rate: 4000, Connections: 32, Seed: 1, StageBytes: 1 << 17, MaxAgeSeconds: 86400, capacity: "25%"},
	}
	run := func(s setting, server string, writes int64, filter bool) {
		r := &policyRun{plan: &plan{}, setting: s, server: server, tally: newTally(), sampleCost: sampleCost{samples: 4, took: 8 * time.Millisecond}}
		for i := range int64(5) {
			c := counts{
				requests: 500 * i, hits: 200 * i, responseBytes: 5000 * i, hitBytes: 1000 * i, writes: writes * i, writeBytes: 10 * writes * i,
				stageWrites: s.stageBytes / 1024 * i, originRequests: 300 * i, originBytes: 4000 * i,
			}
			if filter {
				measured := 0.001 * float64(i)
				c.filter = &filterState{fills: []float64{0.1 * float64(i), 0.05}, expected: 0.002 * float64(i), measured: &measured}
			}
			r.samples = append(r.samples, c)
		}
		r.counts = r.samples[4]
		for i := range int64(2000) {
			_ = r.tally.latency.RecordValue(100 + i)
			r.tally.ok++
		}
		d.add(r)
	}
	run(setting{policy: policyAlways, capacityBytes: 1 << 20, eviction: "ristretto"}, edgeServer, 300, false)
	run(setting{policy: policySecondHit, rotate: "every 30m0s", generations: 2, capacityBytes: 1 << 20, stageBytes: 1 << 17}, edgeServer, 100, true)
	run(setting{policy: "nginx-min-uses-2", rotate: "idle for 24h0m0s", capacityBytes: 1 << 20, eviction: "lru"}, "nginx/1.2.3", 90, false)
	return d
}

// charts returns the charts of a page by their titles.
func charts(p *page.Page) map[string]*page.Chart {
	out := map[string]*page.Chart{}
	for _, s := range p.Sections {
		if s.Chart != nil {
			out[s.Chart.Title] = s.Chart
		}
	}
	return out
}

func TestEveryQuestionHasItsCurve(t *testing.T) {
	d := reported(t)
	got := charts(d.page())
	f := func(title string, series int, name string, x, y float64) {
		t.Helper()
		c := got[title]
		if c == nil {
			t.Errorf("there is no chart %q", title)
			return
		}
		at := slices.IndexFunc(c.Series, func(s page.Series) bool { return s.Name == name })
		if len(c.Series) != series || at < 0 {
			t.Errorf("%s: got %d curves, %q among them: %v; want %d", title, len(c.Series), name, at >= 0, series)
			return
		}
		s := c.Series[at]
		if n := len(s.X); n == 0 || s.X[n-1] != x || s.Y[n-1] < y*0.999 || s.Y[n-1] > y*1.001 {
			t.Errorf("%s, %s: got %v, %v; want to end at %v, %v", title, name, s.X, s.Y, x, y)
		}
	}
	f("Bodies written so far", 3, "always", 2000, 1200)
	f("Bytes of bodies written so far", 3, "second-hit", 2000, 4000)
	f("Bodies written into the stage so far", 3, "second-hit", 2000, 512)
	f("Hit ratio since the point before", 3, "nginx-min-uses-2", 2000, 0.4)
	f("Byte hit ratio since the point before", 3, "always", 2000, 0.2)
	f("Latency that one request in … exceeds", 3, "always", 2000, 0.002098)
	f("Share of the bits, or counters, that are set", 2, "second-hit, generation 0, the newest", 2000, 0.4)
	f("Share of the bits, or counters, that are set", 2, "second-hit, generation 1", 2000, 0.05)
	f("Unseen keys that the filter reports", 2, "second-hit, expected", 2000, 0.008)
	f("Unseen keys that the filter reports", 2, "second-hit, measured", 2000, 0.004)
	f("Bytes fetched from the origin so far", 3, "nginx-min-uses-2", 2000, 16000)
}

// TestPageLeavesOutWhatIsNotThere: an empty chart would ask for a reason.
func TestPageLeavesOutWhatIsNotThere(t *testing.T) {
	d := reported(t)
	d.Results, d.tracks, d.Run.StageBytes = d.Results[:1], d.tracks[:1], 0
	p := d.page()
	for title := range charts(p) {
		if strings.Contains(title, "stage") || strings.Contains(title, "filter") || strings.Contains(title, "bits") {
			t.Errorf("always alone: got a chart %q", title)
		}
	}
	for _, s := range p.Sections {
		if s.Heading == "Warnings" || strings.Contains(s.Text, "nginx") || strings.Contains(s.Text, "promotions") {
			t.Errorf("always alone, without warnings: got %q, %q", s.Heading, s.Text)
		}
	}
}

func TestPageTellsTheRunInWords(t *testing.T) {
	d := reported(t)
	d.Warnings = []string{"always: <b>something</b> is odd"}
	document := written(t, d.page())
	for _, want := range []string{
		"edgeproxy load test: x.tr", "second-hit wrote 66.67% fewer bodies than always: 400 instead of 1,200.", "always: &lt;b&gt;something&lt;/b&gt; is odd", "every 30m0s; 2 generations",
		"4 during the run, 2ms each", "nginx stores in files", "<dt>max-age from the origin</dt><dd>24h</dd>", "131,072 B", "33.33%",
	} {
		if !strings.Contains(document, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The page began with definitions and tables, and the result had to be looked for.
func TestTheResultWasBelowTheDefinitions(t *testing.T) {
	sections := reported(t).page().Sections
	first, last := sections[0], sections[len(sections)-1]
	if last.Heading != "What the columns mean" {
		t.Errorf("the last section is %q", last.Heading)
	}
	want := []page.Bar{
		{Name: "always", Share: 1}, {Name: "second-hit", Share: 1. / 3, Marked: true}, {Name: "nginx-min-uses-2", Share: 0.3},
	}
	for i := range first.Bars {
		first.Bars[i].Text = ""
	}
	if diff := cmp.Diff(want, first.Bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}

func written(t *testing.T, p *page.Page) string {
	t.Helper()
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPageIsDrawnByABrowser opens it from a file, as everybody does.
func TestPageIsDrawnByABrowser(t *testing.T) {
	p := reported(t).page()
	dom, console := testkit.OpenPage(t, written(t, p))
	root := html.UnescapeString(regexp.MustCompile(`<html[^>]*>`).FindString(dom))
	if !strings.Contains(root, `data-charts="drawn"`) || strings.Contains(root, "data-error") || len(console) > 0 {
		t.Errorf("got %s, want every chart drawn and no error\n%s", root, strings.Join(console, "\n"))
	}
	if got, want := strings.Count(dom, "<canvas"), len(charts(p)); got != want {
		t.Errorf("got %d canvases, want one for each of %d charts", got, want)
	}
}
