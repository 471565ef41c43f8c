package sliding

import "sync/atomic"

// block is one split block: eight lanes of 32 bits, two in each word, in one half
// of a cache line.
type block [4]atomic.Uint64

// line is a cache line with the blocks of two generations that belong to the
// same keys. Slices of lines begin on a cache line: Go's allocator aligns what
// is a multiple of 64 bytes so (TestLinesAreWholeCacheLines). Nothing but speed
// depends on it.
type line [2]block

// probe is a key's eight bits in its block: one in each lane, two in each word.
type probe struct{ a, b, c, d uint64 }

// probeOf takes the positions from bits 0 to 39 of lo, five for each lane. The
// block comes from hi, and bits 40 to 63 of lo are left alone: the callers
// choose samples of the keys by them, which would not be fair samples if those
// bits moved a key within the filter.
func probeOf(lo uint64) probe {
	return probe{
		a: 1<<(lo&31) | 1<<(lo>>5&31|32),
		b: 1<<(lo>>10&31) | 1<<(lo>>15&31|32),
		c: 1<<(lo>>20&31) | 1<<(lo>>25&31|32),
		d: 1<<(lo>>30&31) | 1<<(lo>>35&31|32),
	}
}

// missing returns the bits of p that the block lacks.
func (p probe) missing(b *block) probe {
	return probe{p.a &^ b[0].Load(), p.b &^ b[1].Load(), p.c &^ b[2].Load(), p.d &^ b[3].Load()}
}

// none reports whether p has no bit.
func (p probe) none() bool { return p.a|p.b|p.c|p.d == 0 }

// set sets the bits of p in the block. A word that needs none is not written.
func (p probe) set(b *block) {
	if p.a != 0 {
		b[0].Or(p.a)
	}
	if p.b != 0 {
		b[1].Or(p.b)
	}
	if p.c != 0 {
		b[2].Or(p.c)
	}
	if p.d != 0 {
		b[3].Or(p.d)
	}
}
