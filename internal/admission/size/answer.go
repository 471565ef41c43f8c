package size

import (
	"errors"
	"fmt"

	"edgeproxy/internal/bloom"
)

// MaxNumber bounds keys and bits, given or worked out: far above what is built, and exact as a float64.
const MaxNumber = 1 << 50

// Request is what is to be worked out. Exactly two of keys, rate and memory
// are given, memory being one of bits and bytes; what is not given is 0.
type Request struct {
	Keys        uint64 // keys of one filter, and of each generation
	Rate        float64
	Bits        uint64 // bits of one filter, and of each generation
	Bytes       uint64 // bytes of the filter, and of all generations together
	Hashes      int    // 0 is the best
	Generations int
	Layouts     []Layout
	Chosen      bool // the layouts were asked for by name
}

// FilterBits is the memory given for one filter, in bits.
func (r Request) FilterBits() uint64 { return r.Bits + 8*r.Bytes }

// GenerationBits is the memory given for one generation, in bits.
func (r Request) GenerationBits() uint64 { return r.Bits + 8*r.Bytes/uint64(r.Generations) }

// Answer is what was asked and what came out.
type Answer struct {
	Request Request
	Results []Result
	Setting Setting
	WhyNone string // why there is no setting; "" where there is one
}

// Result is one layout, as one filter and as a window.
type Result struct {
	Layout Layout
	Filter Filter
	Window Window
	Err    error // why there is no such filter; the rest is then of no use
}

// Filter is one filter that is exactly full.
type Filter struct {
	Keys   uint64
	Units  uint64
	Hashes int
	Bits   uint64
	Rate   float64
}

// BitsPerKey is the bits for each key.
func (f Filter) BitsPerKey() float64 { return float64(f.Bits) / float64(f.Keys) }

// Bytes is the memory.
func (f Filter) Bytes() uint64 { return (f.Bits + 7) / 8 }

// Window is generations of one size, each asked by itself.
type Window struct {
	Each        Filter
	Generations int
	Peak, Mean  float64 // rates when all are full, and over a cycle of rotation
}

// Guaranteed is the number of last keys that the window holds for certain.
func (w Window) Guaranteed() uint64 { return uint64(w.Generations-1) * w.Each.Keys }

// Most is the number beyond which the window holds none.
func (w Window) Most() uint64 { return uint64(w.Generations) * w.Each.Keys }

// BitsPerKey is the bits for each key that is held for certain.
func (w Window) BitsPerKey() float64 {
	return float64(w.Each.Bits) * float64(w.Generations) / float64(w.Guaranteed())
}

// Bytes is the memory.
func (w Window) Bytes() uint64 { return uint64(w.Generations) * w.Each.Bytes() }

// errNoFilter is that the arithmetic has no solution.
var errNoFilter = errors.New("no such filter")

// Answer works the request out. A layout that the request names must have a
// solution. If the request names none, at least one layout must have a solution.
func (r Request) Answer() (*Answer, error) {
	a := &Answer{Request: r}
	var first error
	solved := 0
	for _, l := range r.Layouts {
		result := r.solve(l)
		switch {
		case result.Err == nil:
			solved++
		case first == nil:
			first = result.Err
		}
		a.Results = append(a.Results, result)
	}
	if solved == 0 || r.Chosen && first != nil {
		return nil, first
	}
	var err error
	if a.Setting, err = r.setting(); err != nil {
		a.WhyNone = err.Error()
	}
	return a, nil
}

// solve is the answer in one layout.
func (r Request) solve(l Layout) Result {
	out := Result{Layout: l}
	if out.Filter, out.Err = r.solveOne(l, r.FilterBits(), r.Rate); out.Err != nil {
		return out
	}
	w := &out.Window
	w.Generations = r.Generations
	// Of a window the rate given is that of all generations together.
	if w.Each, out.Err = r.solveOne(l, r.GenerationBits(), bloom.GenerationRate(r.Rate, r.Generations)); out.Err != nil {
		return out
	}
	// The lowest rates come out as a zero with a sign.
	w.Peak = max(bloom.PeakRate(w.Each.Rate, r.Generations), 0)
	w.Mean = max(bloom.MeanRate(func(n uint64) float64 { return l.Rate(w.Each.Units, w.Each.Hashes, n) }, w.Each.Keys, r.Generations), 0)
	return out
}

// solveOne finds the one of keys, bits and rate that is not given.
func (r Request) solveOne(l Layout, bits uint64, p float64) (f Filter, err error) {
	f.Keys = r.Keys
	switch {
	case bits == 0:
		f.Units, f.Hashes = l.Fit(r.Keys, r.Hashes, p)
	case r.Rate == 0:
		f.Units, f.Hashes = l.Cut(bits, r.Keys, r.Hashes)
	default:
		f.Units, f.Hashes, f.Keys = l.Hold(bits, r.Hashes, p)
	}
	if f.Units == 0 || f.Keys == 0 {
		return f, fmt.Errorf("%s: %w: %s", l.Name, errNoFilter, whyNoFilter(bits, r.Rate))
	}
	if f.Bits = l.Bits(f.Units, f.Hashes); f.Bits > MaxNumber {
		return f, fmt.Errorf("%s: %w: it takes more than 2^50 bits, needs a higher rate or fewer keys", l.Name, errNoFilter)
	}
	f.Rate = l.Rate(f.Units, f.Hashes, f.Keys)
	return f, nil
}

func whyNoFilter(bits uint64, rate float64) string {
	switch {
	case bits == 0:
		return "the rate is out of reach within 2^34 cells, needs a higher one or fewer keys"
	case rate == 0:
		return "the memory is less than one block"
	default:
		return "the memory holds no key at this rate, needs more or a higher rate"
	}
}
