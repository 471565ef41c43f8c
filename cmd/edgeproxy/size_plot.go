package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"edgeproxy/internal/admission/size"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/ops/page"
)

// plotKeys is the number of keys of the filter that curves are drawn for. It is
// so large that the rate depends on bits per key alone.
const plotKeys = 1 << 20

// lowestPlotted is the lowest rate that is drawn. Lower ones would stretch the
// logarithmic axis.
const lowestPlotted = 1e-12

// page returns the answer as a page with curves.
func (a sizeAnswer) page() *page.Page {
	filters, windows := a.filterTable(), a.windowTable()
	p := &page.Page{
		Title: "Size of a Bloom filter",
		Lead:  a.question() + "\n" + a.bound(),
		Sections: []page.Section{
			{Heading: "One filter", Text: a.layoutText(), Table: &filters},
			{Heading: "The sliding window", Text: strings.Join(a.legend(), "\n"), Table: &windows},
			{Heading: "Hashes", Text: "Too few hashes tell keys apart badly, too many fill the filter: m/n ln 2 is the best number.", Chart: a.byHashes()},
			{Heading: "Bits for each key", Text: "The bound is 0.6185 to the power of m/n; with the whole numbers of hashes a filter has, the textbook's comes close.", Chart: a.byBits()},
			{Heading: "Between two rotations", Text: "The newest generation fills up while the older ones are full.", Chart: a.byFill()},
			{Heading: "The setting", Text: a.settingText()},
		},
	}
	if a.WhyNone == "" {
		p.Sections[len(p.Sections)-1].Code = a.Setting.YAML()
	}
	return p
}

// layoutText describes the layouts.
func (a sizeAnswer) layoutText() string {
	var lines []string
	for _, r := range a.Results {
		lines = append(lines, r.Layout.Name+": "+r.Layout.About+".")
	}
	return strings.Join(lines, "\n")
}

// solved returns the results with a solution. There is at least one.
func (a sizeAnswer) solved() []size.Result {
	var out []size.Result
	for _, r := range a.Results {
		if r.Err == nil {
			out = append(out, r)
		}
	}
	return out
}

// rateChart returns an empty chart of rates, with a logarithmic axis.
func rateChart(title, x string) *page.Chart {
	return &page.Chart{Title: title, X: x, Y: "false positive rate", YUnit: page.Percent, LogY: true}
}

// curve adds the series of y at each of xs. On a logarithmic axis it leaves out values below lowestPlotted.
func curve(c *page.Chart, name string, xs []float64, y func(x float64) float64) {
	s := page.Series{Name: name}
	for _, x := range xs {
		if v := y(x); v >= lowestPlotted || !c.LogY {
			s.X, s.Y = append(s.X, x), append(s.Y, v)
		}
	}
	c.Series = append(c.Series, s)
}

// byHashes plots the textbook layout's rate over the number of hashes, with as
// many bits for each key as the first layout has.
func (a sizeAnswer) byHashes() *page.Chart {
	r, g := a.solved()[0], a.Request.Generations
	c := rateChart("Rate by number of hashes, textbook", "hashes k")
	each := float64(r.Window.Each.Bits) / float64(r.Window.Each.Keys)
	most := min(max(16, 2*r.Filter.Hashes, 2*r.Window.Each.Hashes), bloom.MaxProbes)
	var ks []float64
	for k := range most {
		ks = append(ks, float64(k+1))
	}
	rate := func(bitsPerKey float64, k int) func(n uint64) float64 {
		m := uint64(math.Round(bitsPerKey * plotKeys))
		return func(n uint64) float64 { return bloom.FalsePositiveRate(max(m, 1), k, n) }
	}
	curve(c, "one filter, "+sizeDecimal(r.Filter.BitsPerKey())+" bits a key", ks, func(k float64) float64 {
		return rate(r.Filter.BitsPerKey(), int(k))(plotKeys)
	})
	window := " of the window, " + strconv.Itoa(g) + " x " + sizeDecimal(each) + " bits a key"
	curve(c, "peak"+window, ks, func(k float64) float64 { return bloom.PeakRate(rate(each, int(k))(plotKeys), g) })
	curve(c, "mean"+window, ks, func(k float64) float64 { return bloom.MeanRate(rate(each, int(k)), plotKeys, g) })
	return c
}

// byBits plots the rate of every layout over the bits for each key.
func (a sizeAnswer) byBits() *page.Chart {
	c := rateChart("Rate of one full filter by bits for each key", "bits for each key, m/n")
	most := 24.0
	for _, r := range a.solved() {
		most = max(most, min(1.25*r.Filter.BitsPerKey(), 100))
	}
	var xs []float64
	for x := 2.0; x <= most; x += 0.5 {
		xs = append(xs, x)
	}
	for _, r := range a.solved() {
		curve(c, r.Layout.Name, xs, func(x float64) float64 {
			units, k := r.Layout.Cut(uint64(x*plotKeys), plotKeys, a.Request.Hashes)
			return r.Layout.Rate(units, k, plotKeys)
		})
	}
	curve(c, "the bound", xs, bloom.BestRate)
	return c
}

// byFill plots the window's rate in every layout from one rotation to the next.
func (a sizeAnswer) byFill() *page.Chart {
	c := rateChart(fmt.Sprintf("Rate of the window of %d generations", a.Request.Generations), "newest generation, keys of its capacity")
	c.XUnit, c.LogY = page.Percent, false
	var xs []float64
	for step := range 51 {
		xs = append(xs, float64(step)/50)
	}
	for _, r := range a.solved() {
		w := r.Window
		rate := func(n uint64) float64 { return r.Layout.Rate(w.Each.Units, w.Each.Hashes, n) }
		curve(c, r.Layout.Name, xs, func(x float64) float64 {
			return bloom.CycleRate(rate, w.Each.Keys, uint64(math.Round(x*float64(w.Each.Keys))), w.Generations)
		})
	}
	return c
}
