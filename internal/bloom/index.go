package bloom

import "math/bits"

// Probes walks the cells of one key: h1, h1+h2, h1+2 h2+1, ... that is
//
//	h1 + i h2 + (i^3 - i)/6  mod m,   i = 0, 1, 2, ...
//
// the enhanced double hashing of Dillinger and Manolios ("Bloom filters in
// probabilistic verification", FMCAD 2004). Two hash values stand in for k, as
// Kirsch and Mitzenmacher (ESA 2006) showed they may. The cubic term costs one
// addition and takes away the weak spots of plain double hashing: no h2 (0,
// m/2, a divisor of m) folds the walk onto a few cells, so h2 need not be made
// odd and m need not be a power of two or a prime.
//
// The halves of the hash are reduced once, by multiply-high, which is as even
// as a remainder (the bias is below m/2^64 either way) and needs no division.
// The walk then goes on modulo m by subtraction. Multiply-high at every step
// would not do: it looks at the high bits alone, which the small cubic term
// never reaches.
//
// The zero Probes is not of use; NewProbes starts a walk.
type Probes struct {
	at, step, i, m uint64
}

// NewProbes starts the walk of the key with the 128-bit hash (hi, lo) over m
// cells, MinCells <= m <= MaxCells.
func NewProbes(hi, lo, m uint64) Probes {
	at, _ := bits.Mul64(hi, m)
	step, _ := bits.Mul64(lo, m)
	return Probes{at: at, step: step, m: m}
}

// Next returns the next cell, in [0, m). It may be called MaxProbes times: up
// to there the step grows by less than m at a time.
func (p *Probes) Next() uint64 {
	cell := p.at
	p.i++
	p.at = wrap(p.at+p.step, p.m)
	p.step = wrap(p.step+p.i, p.m)
	return cell
}

// wrap reduces v < 2m to [0, m).
func wrap(v, m uint64) uint64 {
	if v >= m {
		v -= m
	}
	return v
}
