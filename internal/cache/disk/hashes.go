package disk

import "sync/atomic"

// hashes is a set of hashes that may say yes for some that were not added: for one in 80 where
// 100,000 were. Its size is fixed. It is safe for concurrent use. Nil holds none.
type hashes struct {
	done atomic.Bool
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
		word.Or(1 << (i % 64))
	}
}

func (s *hashes) has(h uint64) bool {
	i := h >> (64 - hashBits)
	return s.bits[i/64].Load()&(1<<(i%64)) != 0
}
