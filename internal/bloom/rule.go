package bloom

import "math/bits"

// Rule is how the k probes of a key follow from two hash values h1 and h2:
//
//	h1 + i h2 + f(i)  mod m,   i = 0, 1, ... k-1
//
// Kirsch and Mitzenmacher ("Less hashing, same performance: building a better
// Bloom filter", ESA 2006) showed that two values serve as well as k
// independent ones: the rate tends to the same (1-e^(-kn/m))^k, with f or
// without.
//
// h2 must depend on the key. If it were constant, as in h(x)+i, two keys
// that share the first cell share all of them, and the k probes are worth little
// more than one: at 10 bits a key and 7 probes the rate is 22 % instead of 0.8 %.
type Rule uint8

// The rules. The zero value is the one to take.
const (
	// RuleEnhanced has f(i) = (i^3-i)/6: the enhanced double hashing of
	// Dillinger and Manolios ("Bloom filters in probabilistic verification",
	// FMCAD 2004). The cubic term costs one addition and takes away the weak
	// spots of plain double hashing: no h2 (0, m/2, a divisor of m) folds the
	// walk onto a few cells, so h2 need not be odd nor m a prime, and the walk of
	// one key is never that of another backwards.
	RuleEnhanced Rule = iota

	// RuleDouble has f(i) = 0: the double hashing of Kirsch and Mitzenmacher,
	// section 5. Where d divides m, one h2 in m/d folds the walk onto d cells or
	// fewer, and a step of -h2 from the far end visits the same cells as h2. Large
	// arrays notice neither.
	RuleDouble

	// RuleSquare has f(i) = i^2, one of the extended double hashing schemes of
	// Kirsch and Mitzenmacher, section 5. No h2 folds the walk, but taken
	// backwards it is still that of another key.
	RuleSquare

	rules
)

// String returns "enhanced", "double" or "square".
func (r Rule) String() string {
	switch r {
	case RuleEnhanced:
		return "enhanced"
	case RuleDouble:
		return "double"
	case RuleSquare:
		return "square"
	default:
		return "unknown"
	}
}

// Probes starts the walk of the key with the 128-bit hash (hi, lo) over m
// cells, MinCells <= m <= MaxCells.
func (r Rule) Probes(hi, lo, m uint64) Probes {
	return r.bend().start(hi, lo, m)
}

// Folded starts the walk of the key with the 128-bit hash (hi, lo) over span cells, which
// is folded onto m of them; m divides span.
func (r Rule) Folded(hi, lo, span, m uint64) Probes {
	return r.bend().folded(hi, lo, span, m)
}

// Known reports whether r is one of the rules.
func (r Rule) Known() bool { return r < rules }

// bend is f(i) by its forward differences, so that a walk needs additions only:
// each probe adds the step, each step grows by the pull, each pull by the twist.
type bend struct {
	lift uint64 // f(1), which the first step has on top of h2
	grow uint64 // low half: the second difference of f at 0; high half: the third
}

func (r Rule) bend() bend {
	switch r {
	case RuleDouble:
		return bend{}
	case RuleSquare: // 0 1 4 9: differences 1 3 5, and 2 2
		return bend{lift: 1, grow: 2}
	default: // 0 0 1 4 10: differences 0 1 3 6, then 1 2 3, then 1 1
		return bend{grow: 1<<32 | 1}
	}
}

// start begins a walk over m cells.
func (b bend) start(hi, lo, m uint64) Probes {
	at, _ := bits.Mul64(hi, m)
	step, _ := bits.Mul64(lo, m)
	return Probes{at: at, step: wrap(step+b.lift, m), grow: b.grow, m: m}
}

// folded begins a walk that is made for span cells and folded onto m of them,
// where m divides span. A sum modulo span taken modulo m is the sum of its
// terms modulo m, so folding the two starting values folds the whole walk.
func (b bend) folded(hi, lo, span, m uint64) Probes {
	at, _ := bits.Mul64(hi, span)
	step, _ := bits.Mul64(lo, span)
	return Probes{at: at % m, step: wrap(step%m+b.lift, m), grow: b.grow, m: m}
}
