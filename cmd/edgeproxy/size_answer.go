package main

import (
	"errors"
	"fmt"

	"edgeproxy/internal/bloom"
)

// sizeAnswer is what was asked and what came out.
type sizeAnswer struct {
	request sizeRequest
	results []sizeResult
	setting sizeSetting
	noteOf  string // why there is no setting; "" where there is one
}

// sizeResult is one layout, as one filter and as a window.
type sizeResult struct {
	layout sizeLayout
	filter sizedFilter
	window sizedWindow
	err    error // why there is no such filter; the rest is then of no use
}

// sizedFilter is one filter that is exactly full.
type sizedFilter struct {
	keys   uint64
	units  uint64
	hashes int
	bits   uint64
	rate   float64
}

func (f sizedFilter) bitsPerKey() float64 { return float64(f.bits) / float64(f.keys) }
func (f sizedFilter) bytes() uint64       { return (f.bits + 7) / 8 }

// sizedWindow is generations of one size, each asked by itself.
type sizedWindow struct {
	each        sizedFilter
	generations int
	peak, mean  float64 // rates when all are full, and over a cycle of rotation
}

// guaranteed is the number of last keys that the window holds for certain, and
// most the number beyond which it holds none.
func (w sizedWindow) guaranteed() uint64 { return uint64(w.generations-1) * w.each.keys }
func (w sizedWindow) most() uint64       { return uint64(w.generations) * w.each.keys }

func (w sizedWindow) bitsPerKey() float64 {
	return float64(w.each.bits) * float64(w.generations) / float64(w.guaranteed())
}
func (w sizedWindow) bytes() uint64 { return uint64(w.generations) * w.each.bytes() }

// errNoFilter is that the arithmetic has no solution.
var errNoFilter = errors.New("no such filter")

// answer works the request out. A layout that was asked for by name must have a
// solution. Where none was named, at least one layout must have one.
func (r sizeRequest) answer() (*sizeAnswer, error) {
	a := &sizeAnswer{request: r}
	var first error
	solved := 0
	for _, l := range r.layouts {
		result := r.solve(l)
		switch {
		case result.err == nil:
			solved++
		case first == nil:
			first = result.err
		}
		a.results = append(a.results, result)
	}
	if solved == 0 || r.chosen && first != nil {
		return nil, first
	}
	var err error
	if a.setting, err = r.setting(); err != nil {
		a.noteOf = err.Error()
	}
	return a, nil
}

// solve is the answer in one layout.
func (r sizeRequest) solve(l sizeLayout) sizeResult {
	out := sizeResult{layout: l}
	if out.filter, out.err = r.solveOne(l, r.filterBits(), r.rate); out.err != nil {
		return out
	}
	w := &out.window
	w.generations = r.generations
	// Of a window the rate given is that of all generations together.
	if w.each, out.err = r.solveOne(l, r.generationBits(), bloom.GenerationRate(r.rate, r.generations)); out.err != nil {
		return out
	}
	// The lowest rates come out as a zero with a sign.
	w.peak = max(bloom.PeakRate(w.each.rate, r.generations), 0)
	w.mean = max(bloom.MeanRate(func(n uint64) float64 { return l.rate(w.each.units, w.each.hashes, n) }, w.each.keys, r.generations), 0)
	return out
}

// solveOne finds the one of keys, bits and rate that is not given.
func (r sizeRequest) solveOne(l sizeLayout, bits uint64, p float64) (f sizedFilter, err error) {
	f.keys = r.keys
	switch {
	case bits == 0:
		f.units, f.hashes = l.fit(r.keys, r.hashes, p)
	case r.rate == 0:
		f.units, f.hashes = l.cut(bits, r.keys, r.hashes)
	default:
		f.units, f.hashes, f.keys = l.hold(bits, r.hashes, p)
	}
	if f.units == 0 || f.keys == 0 {
		return f, fmt.Errorf("%s: %w: %s", l.name, errNoFilter, whyNoFilter(bits, r.rate))
	}
	f.bits = l.bits(f.units, f.hashes)
	f.rate = l.rate(f.units, f.hashes, f.keys)
	return f, nil
}

func whyNoFilter(bits uint64, rate float64) string {
	switch {
	case bits == 0:
		return "the rate is out of reach within 2^34 cells, want a higher one or fewer keys"
	case rate == 0:
		return "the memory is less than one block"
	default:
		return "the memory holds no key at this rate, want more or a higher rate"
	}
}
