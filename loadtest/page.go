package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/ops/page"
)

// page returns the report as a self-contained page: the result first, then the curves, and last what the words mean.
func (d *document) page() *page.Page {
	m := curvePoints(d.tracks, d.Trace.Requests)
	sections := []page.Section{d.result()}
	if len(d.Warnings) > 0 {
		sections = append(sections, d.warnings())
	}
	sections = append(sections, d.policies(), d.clientsSection())
	sections = append(sections, d.writeCurves(m)...)
	sections = append(sections, d.hitCurves(m)...)
	sections = append(sections, d.latencyCurve())
	sections = append(sections, d.filterCurves(m)...)
	sections = append(sections, d.originCurve(m), d.settings(), d.traceFacts(), d.meanings())
	return &page.Page{Title: "edgeproxy load test: " + d.name, Lead: d.lead(), Sections: sections}
}

// lead says in one sentence what the most interesting policy saved, and what was done.
func (d *document) lead() string {
	var text strings.Builder
	always := &d.Results[0]
	if i := slices.IndexFunc(d.Results, func(r result) bool { return r.Policy == policySecondHit }); i > 0 && always.Writes > 0 {
		r := &d.Results[i]
		fmt.Fprintf(&text, "%s wrote %s fewer bodies than always: %s instead of %s. Its hit ratio was %s, that of always %s.\n\n",
			r.name(), percent(ratio(r.WritesAvoided, always.Writes)), humanize.Comma(r.Writes), humanize.Comma(always.Writes),
			percent(r.HitRatio), percent(always.HitRatio))
	}
	fmt.Fprintf(&text, "%s requests for %s objects were sent once under each policy, %s a second, to a cache of %s (%s).",
		humanize.Comma(d.Trace.Requests), humanize.Comma(d.Trace.Objects), humanize.Commaf(d.Run.Rate), size(d.Run.MaxBytes), d.Run.capacity)
	return text.String()
}

// result draws the writes of each policy.
func (d *document) result() page.Section {
	most := int64(1)
	for i := range d.Results {
		most = max(most, d.Results[i].Writes)
	}
	out := page.Section{Heading: "Bodies written"}
	for i := range d.Results {
		r := &d.Results[i]
		out.Bars = append(out.Bars, page.Bar{
			Name: r.name(), Share: ratio(r.Writes, most), Marked: r.Policy == policySecondHit,
			Text: fmt.Sprintf("%s, %s; %s hits", humanize.Comma(r.Writes), size(r.WriteBytes), percent(r.HitRatio)),
		})
	}
	return out
}

func (d *document) policies() page.Section {
	return page.Section{Heading: "Policies", Table: d.table(d.innerColumns())}
}

// meanings says what the columns mean.
func (d *document) meanings() page.Section {
	text := "Avoided is what always wrote and this policy did not, in this run: the gain. More bytes from the origin than always are the price. " +
		"Saved is the proxy's own estimate of the gain, which no second run is needed for: the responses held back less the regret, " +
		"which are the fills of a key whose fill before was held back. A response that is held back and comes again is no saving."
	if d.Run.StageBytes > 0 {
		text += " Writes are those into the memory tier, the promotions among them; first sightings written into the stage stand apart."
	}
	if d.compares("nginx") {
		text += "\n\nnginx stores in files, edgeproxy in memory. Its writes are the files that it renamed into its cache, their bytes those of the " +
			"bodies; it counts no regret. Its size limit counts whole blocks of the file system, so it holds less of small objects."
	}
	if d.compares("Traffic Server") {
		text += "\n\nTraffic Server stores in one file, over what it wrote longest ago. Its writes are those that its log calls finished; it counts no " +
			"evictions and no regret."
	}
	return page.Section{Heading: "What the columns mean", Text: text}
}

// clientsSection has the columns of origin and clients in a table of their own: one table of all columns would be too wide.
func (d *document) clientsSection() page.Section {
	return page.Section{
		Heading: "Origin and clients",
		Text:    "Late is how many requests were sent over 10 ms after their time.",
		Table:   d.table(slices.Concat(firstColumns[:1], outerColumns[:])),
	}
}

func (d *document) table(columns []column) *page.Table {
	heads, rows := d.rows(columns)
	t := &page.Table{Rows: rows}
	for i, h := range heads {
		t.Columns = append(t.Columns, page.Column{Name: h, Numeric: i > 0})
	}
	return t
}

// compares reports whether the results include the baseline of that name.
func (d *document) compares(name string) bool {
	return slices.ContainsFunc(d.Results, func(r result) bool { return strings.HasPrefix(r.Server, name) })
}

func (d *document) warnings() page.Section {
	t := &page.Table{Caption: "What makes figures doubtful", Columns: []page.Column{{Name: "warning"}}}
	for _, w := range d.Warnings {
		t.Rows = append(t.Rows, []string{w})
	}
	return page.Section{Heading: "Warnings", Table: t}
}

func (d *document) settings() page.Section {
	r := &d.Run
	facts := []page.Fact{
		{Name: "cache.memory.max_bytes", Value: sizeAndBytes(r.MaxBytes) + ", " + r.capacity},
		{Name: "cache.memory.max_object_bytes", Value: sizeAndBytes(r.MaxObjectBytes)},
	}
	if r.StageBytes > 0 {
		facts = append(facts, page.Fact{Name: "cache.memory.stage_bytes", Value: sizeAndBytes(r.StageBytes) + ", where the policy holds back"})
	}
	for i := range d.Results {
		if res := &d.Results[i]; res.Rotate != "" {
			facts = append(facts, page.Fact{Name: res.name() + " forgets", Value: res.forgets()})
		}
		if res := &d.Results[i]; res.Folder != "" {
			facts = append(facts, page.Fact{Name: res.name() + " is", Value: res.Server + ", its cache a folder in " + res.Folder})
		}
	}
	facts = append(
		facts,
		page.Fact{Name: "rate", Value: humanize.Commaf(r.Rate) + " requests/s"},
		page.Fact{Name: "connections", Value: humanize.Comma(int64(r.Connections))},
		page.Fact{Name: "max-age from the origin", Value: page.Seconds.Format(r.MaxAgeSeconds)},
		page.Fact{Name: "seed", Value: strconv.FormatUint(r.Seed, 10)},
	)
	if r.Runs > 1 {
		facts = append(facts, page.Fact{Name: "runs of each", Value: humanize.Comma(int64(r.Runs)) + "; figures are means, the curves those of the first"})
	}
	return page.Section{Heading: "Settings", Facts: append(facts, d.sampleFacts()...)}
}

func (r *result) forgets() string {
	if r.Generations == 0 {
		return r.Rotate
	}
	return fmt.Sprintf("%s; %d generations", r.Rotate, r.Generations)
}

// sampleFacts says how many samples the curves have and what they cost.
func (d *document) sampleFacts() []page.Fact {
	var out []page.Fact
	for i := range d.tracks {
		t := &d.tracks[i]
		out = append(out, page.Fact{
			Name:  t.name + ", samples of its counts",
			Value: fmt.Sprintf("%d during the run, %s each", t.sampleCost.samples, t.sampleCost.mean().Round(10*time.Microsecond)),
		})
	}
	return out
}

func (d *document) traceFacts() page.Section {
	t, r := &d.Trace, &d.Run
	count := func(name string, n int64) page.Fact { return page.Fact{Name: name, Value: humanize.Comma(n)} }
	return page.Section{Heading: "Trace", Facts: []page.Fact{
		{Name: "name", Value: d.name},
		count("requests", t.Requests),
		count("objects", t.Objects),
		{Name: "objects asked for once", Value: humanize.Comma(t.OneHitObjects) + ", " + percent(ratio(t.OneHitObjects, t.Objects))},
		{Name: "asked for", Value: sizeAndBytes(t.RequestBytes)},
		{Name: "unique", Value: sizeAndBytes(t.UniqueBytes)},
		count("bad lines", t.BadLines),
		count("lines skipped", r.SkippedLines),
		count("targets generated", int64(r.MappedObjects)),
	}}
}

func sizeAndBytes(n int64) string { return fmt.Sprintf("%s (%s B)", size(n), humanize.Comma(n)) }
