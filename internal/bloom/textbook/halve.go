package textbook

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"edgeproxy/internal/bloom"
)

// halveInto makes half, which is new, a copy of a with rows of half the length:
// bit i of a row is the OR of bits i and i + m/2 of a's.
//
// A look-up then wants its cell modulo m/2. The multiply-high that reduces a
// hash to m cells does not give that when m is replaced by m/2 (it would give
// the cell divided by 2), so walks go on being made for the m of the first
// array, Params.span, and are folded onto what is left of it.
func (a *array) halveInto(half *array) error {
	p := a.params
	if p.Cells%2 != 0 || p.Cells < 2*bloom.MinCells {
		return fmt.Errorf("halve a filter: %w", &bloom.OptionError{
			Option: "cells", Value: p.Cells, Want: fmt.Sprintf("an even number from %d", 2*bloom.MinCells),
		})
	}
	p.Cells, p.Folds = p.Cells/2, p.Folds+1
	half.shape(a.kind, p)
	for row := range a.kind.rows(p.Probes) {
		from, to := row*a.m, row*p.Cells
		for i := uint64(0); i < p.Cells; i += 64 {
			v := read(a.words, from+i) | read(a.words, from+p.Cells+i)
			if left := p.Cells - i; left < 64 {
				v &= 1<<left - 1
			}
			write(half.words, to+i, v)
		}
	}
	ones := 0
	for i := range half.words {
		ones += bits.OnesCount64(half.words[i].Load())
	}
	half.ones.Store(int64(ones))
	half.keys.Store(a.keys.Load())
	return nil
}

// read returns the 64 bits from position at on; those past the end are 0.
func read(words []atomic.Uint64, at uint64) uint64 {
	i, shift := at/64, at%64
	v := words[i].Load() >> shift
	if shift > 0 && i+1 < uint64(len(words)) {
		v |= words[i+1].Load() << (64 - shift)
	}
	return v
}

// write ORs 64 bits in from position at on; those past the end must be 0.
func write(words []atomic.Uint64, at, v uint64) {
	i, shift := at/64, at%64
	words[i].Or(v << shift)
	if over := v >> (64 - shift); over != 0 {
		words[i+1].Or(over)
	}
}
