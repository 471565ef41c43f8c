package bloom

// Probes walks the cells of one key by a Rule.
//
// The halves of the hash are reduced to [0, m) once, by multiply-high, which is
// as even as a remainder (the bias is below m/2^64 either way) and needs no
// division. The walk then goes on modulo m by subtraction. Multiply-high at
// every step would not do: it looks at the high bits alone, which the small
// term f(i) never reaches.
//
// The zero Probes is not of use; NewProbes and Rule.Probes start a walk. A
// Probes belongs to one caller.
type Probes struct {
	at, step uint64
	grow     uint64 // growth of step, which bend defines; one word, for the compiler keeps four in registers and not five
	m        uint64
}

// NewProbes starts a walk by RuleEnhanced for the key with the 128-bit hash
// (hi, lo) over m cells, MinCells <= m <= MaxCells.
func NewProbes(hi, lo, m uint64) Probes { return RuleEnhanced.Probes(hi, lo, m) }

// Next returns the next cell, in [0, m). It may be called MaxProbes times: up
// to there the step grows by at most m at a time.
func (p *Probes) Next() uint64 {
	cell := p.at
	p.at = wrap(p.at+p.step, p.m)
	p.step = wrap(p.step+p.grow&(1<<32-1), p.m)
	p.grow += p.grow >> 32
	return cell
}

// wrap reduces v < 2m to [0, m).
func wrap(v, m uint64) uint64 {
	if v >= m {
		v -= m
	}
	return v
}
