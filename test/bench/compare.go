package main

import (
	"slices"

	"edgeproxy/internal/lab/figures"
)

// pair is the cost of two neighbouring rounds, in microseconds of CPU time per
// request.
type pair struct{ edge, bare float64 }

// comparison is what the rounds of one work say.
type comparison struct {
	size     int
	uploaded bool   // each connection has sent an upload before
	misses   bool   // and not hits
	stored   bool   // the misses are
	onDisk   bool   // what is stored lies in files alone
	log      string // the format of the access log that has them; "": none
	by       string // whose log that is
	pairs    []pair
}

// name says what the work is.
func (c comparison) name() string {
	name := "hit of "
	switch {
	case c.stored:
		name = "stored miss of "
	case c.misses:
		name = "miss of "
	}
	name += sizeText(c.size)
	switch {
	case c.uploaded:
		name += " after an upload"
	case c.onDisk:
		name += " on a disk"
	case c.log != "":
		name += ", a line in " + c.log
		if c.by != edgeName {
			name += " of " + c.by
		}
	}
	return name
}

// ratio is the verdict: the median of the ratios.
func (c comparison) ratio() float64 { return figures.Median(c.ratios()) }

// ratios returns those of all pairs, in their order.
func (c comparison) ratios() []float64 {
	return c.each(func(p pair) float64 { return p.edge / p.bare })
}

func (c comparison) each(of func(pair) float64) []float64 {
	values := make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		values[i] = of(p)
	}
	return values
}

// medians returns the costs in the middle.
func (c comparison) medians() (edge, bare float64) {
	return figures.Median(c.each(func(p pair) float64 { return p.edge })), figures.Median(c.each(func(p pair) float64 { return p.bare }))
}

// extremes are the lowest and the highest ratio of a pair.
func (c comparison) extremes() (low, high float64) {
	ratios := c.ratios()
	return slices.Min(ratios), slices.Max(ratios)
}

// interval is a 95 % confidence interval of the median ratio. Its ends are two of the ratios
// that were measured, counted from either end, so it needs no assumption about their
// distribution. Fewer than six pairs give no such interval; then its ends are the extremes.
func (c comparison) interval() (low, high float64) {
	ratios := slices.Sorted(slices.Values(c.ratios()))
	k := rank(len(ratios))
	return ratios[k-1], ratios[len(ratios)-k]
}

// rank returns the largest k, at least 1, for which the median lies between the k-th of n sorted
// values and the k-th from the end with a probability of 0.95. Each value is below the median
// with a probability of one half, so the number of those below is binomial.
func rank(n int) int {
	const miss = 0.05 / 2 // at either end
	ways, below := 1.0, 0.0
	for range n {
		ways /= 2
	}
	for k := 0; k < n/2; k++ { // ways that k of n are below
		if below += ways; below > miss {
			return max(k, 1)
		}
		ways *= float64(n-k) / float64(k+1)
	}
	return max(n/2, 1)
}
