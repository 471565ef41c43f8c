package main

import (
	"strconv"

	"edgeproxy/internal/ops/page"
)

// The counts that curves show.
func requestsOf(c *counts) int64    { return c.requests - c.failed }
func hitsOf(c *counts) int64        { return c.hits }
func bytesOf(c *counts) int64       { return c.responseBytes - c.failedBytes }
func hitBytesOf(c *counts) int64    { return c.hitBytes }
func writesOf(c *counts) int64      { return c.writes }
func writeBytesOf(c *counts) int64  { return c.writeBytes }
func stageWritesOf(c *counts) int64 { return c.stageWrites }
func originBytesOf(c *counts) int64 { return c.originBytes }

// byRequests returns an empty chart with the number of requests on the x axis.
func byRequests(title, y string, unit page.Unit) *page.Chart {
	return &page.Chart{Title: title, X: "requests", Y: y, YUnit: unit}
}

// sums returns the chart of a cumulative count, with a curve for each policy.
func (d *document) sums(title, y string, unit page.Unit, marks []float64, count func(*counts) int64) *page.Chart {
	c := byRequests(title, y, unit)
	for i := range d.tracks {
		c.Series = append(c.Series, d.tracks[i].sum(marks, count))
	}
	return c
}

func (d *document) writeCurves(marks []float64) []page.Section {
	out := []page.Section{
		{Heading: "Writes", Chart: d.sums("Bodies written so far", "writes", page.Plain, marks, writesOf)},
		{Chart: d.sums("Bytes of bodies written so far", "written", page.Bytes, marks, writeBytesOf)},
	}
	if d.Run.StageBytes == 0 {
		return out
	}
	return append(out, page.Section{
		Heading: "Stage", Text: "First sightings go through the stage. They are no writes into the tier that admission guards.",
		Chart: d.sums("Bodies written into the stage so far", "stage writes", page.Plain, marks, stageWritesOf),
	})
}

func (d *document) hitCurves(marks []float64) []page.Section {
	hits := byRequests("Hit ratio since the point before", "hit ratio", page.Percent)
	bytes := byRequests("Byte hit ratio since the point before", "byte hit ratio", page.Percent)
	for i := range d.tracks {
		hits.Series = append(hits.Series, d.tracks[i].share(marks, hitsOf, requestsOf))
		bytes.Series = append(bytes.Series, d.tracks[i].share(marks, hitBytesOf, bytesOf))
	}
	return []page.Section{
		{Heading: "Hits", Text: "Each cache starts empty. The proxies' own errors do not count.", Chart: hits},
		{Chart: bytes},
	}
}

func (d *document) originCurve(marks []float64) page.Section {
	return page.Section{
		Heading: "Origin", Text: "More than always is what a policy costs.",
		Chart: d.sums("Bytes fetched from the origin so far", "origin bytes", page.Bytes, marks, originBytesOf),
	}
}

// slowest are the x values of the latency curve: one request in this many takes
// longer.
var slowest = [...]float64{1.25, 2, 4, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000}

func (d *document) latencyCurve() page.Section {
	c := &page.Chart{
		Title: "Latency that one request in … exceeds", X: "one request in", Y: "latency", LogX: true, LogY: true, YUnit: page.Seconds,
	}
	for i := range d.tracks {
		c.Series = append(c.Series, d.tracks[i].latencies())
	}
	return page.Section{
		Heading: "Latency",
		Text: "From the time that a request was due to its last byte, so that a stall counts for all that it delayed. " +
			"2 is the median, 100 the 99th percentile, 1000 the 99.9th.",
		Chart: c,
	}
}

func (t *curveData) latencies() page.Series {
	s := page.Series{Name: t.name}
	for _, n := range slowest {
		if t.tally.ok == 0 || n > float64(t.tally.ok) {
			break
		}
		s.X = append(s.X, n)
		s.Y = append(s.Y, t.tally.quantile(1-1/n))
	}
	return s
}

// filterCurves returns the charts of the policies' filters, none if no policy has one.
func (d *document) filterCurves(marks []float64) []page.Section {
	fills := byRequests("Share of the bits, or counters, that are set", "fill", page.Percent)
	rates := byRequests("Unseen keys that the filter reports", "false positives", page.Percent)
	for i := range d.tracks {
		t := &d.tracks[i]
		for g := range t.generations() {
			fills.Series = append(fills.Series, t.state(generationName(g), marks, func(f *filterState) *float64 {
				if g >= len(f.fills) {
					return nil
				}
				return &f.fills[g]
			}))
		}
		rates.Series = append(rates.Series, t.rates(marks)...)
	}
	if len(rates.Series) == 0 {
		return nil
	}
	return []page.Section{
		{Heading: "Filters", Text: "How full each generation of a policy's filter is. A rotation empties the oldest, which becomes the newest.", Chart: fills},
		{
			Text: "Expected follows from the fill. Measured is the share of wrong answers in a sample of the keys with exact records, over the last " +
				"generations; what it ought to be is expected of the sample.",
			Chart: rates,
		},
	}
}

func generationName(g int) string {
	if g == 0 {
		return "generation 0, the newest"
	}
	return "generation " + strconv.Itoa(g)
}

// rates returns the curves of false positives that have at least one point.
func (t *curveData) rates(marks []float64) (out []page.Series) {
	for _, s := range []page.Series{
		t.state("expected", marks, func(f *filterState) *float64 { return &f.expected }),
		t.state("expected of the sample", marks, func(f *filterState) *float64 { return f.expectedOfSample }),
		t.state("measured", marks, func(f *filterState) *float64 { return f.measured }),
	} {
		if len(s.X) > 0 {
			out = append(out, s)
		}
	}
	return out
}
