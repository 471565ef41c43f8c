package disk

import "sync/atomic"

// hashes is a Bloom filter with one hash function: a set that may report hashes that were not added, one in 80 with 100,000 added. Its size is
// fixed. It is safe for concurrent use. Nil is the empty set.
type hashes struct {
	done atomic.Bool
	some atomic.Bool // set before the first bit is
	bits []atomic.Uint64
}

const hashBits = 23

func newHashes() *hashes { return &hashes{bits: make([]atomic.Uint64, 1<<hashBits/64)} }

func (s *hashes) add(h uint64) {
	if s.done.Load() {
		return
	}
	i := h >> (64 - hashBits)
	if word := &s.bits[i/64]; word.Load()&(1<<(i%64)) == 0 {
		s.filling()
		word.Or(1 << (i % 64))
	}
}

func (s *hashes) filling() {
	if !s.some.Load() {
		s.some.Store(true)
	}
}

// merge adds all of other.
func (s *hashes) merge(other *hashes) {
	if other.empty() {
		return
	}
	for i := range other.bits {
		if more := other.bits[i].Load(); more != 0 {
			s.filling()
			s.bits[i].Or(more)
		}
	}
}

// empty reports that nothing was added. The writer asks every settleAfter, so it does not look at the bits.
func (s *hashes) empty() bool { return !s.some.Load() }

func (s *hashes) has(h uint64) bool {
	i := h >> (64 - hashBits)
	return s.bits[i/64].Load()&(1<<(i%64)) != 0
}
