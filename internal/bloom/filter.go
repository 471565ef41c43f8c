package bloom

import (
	"fmt"
	"math/bits"
	"sync/atomic"
)

// Filter is the textbook Bloom filter: m bits, k probes a key, anywhere in the
// array (Bloom 1970). Nothing can be taken out but everything at once.
//
// All methods are safe for concurrent use and take no lock. An Add that has
// returned is seen by every Add and Has that starts later. Of several
// simultaneous first Adds of a key at least one is told that the key was new;
// all of them may be.
type Filter struct {
	words []atomic.Uint64
	m     uint64
	k     int

	_ [64]byte // the counters change with every new key, the fields above never

	ones atomic.Int64 // bits set: counted where they are set and cleared, so exact at rest
	keys atomic.Int64
}

// NewFilter returns an empty filter of m bits (at least MinCells, at most
// MaxCells) and k probes. It panics outside those bounds and where k is not
// within 1..MaxProbes; Size gives m and k for a wanted rate.
func NewFilter(m uint64, k int) *Filter {
	if m < MinCells || m > MaxCells || k < 1 || k > MaxProbes {
		panic(fmt.Sprintf("bloom: filter of %d bits and %d probes: want %d to %d bits and 1 to %d probes",
			m, k, MinCells, uint64(MaxCells), MaxProbes))
	}
	return &Filter{words: make([]atomic.Uint64, (m+63)/64), m: m, k: k}
}

// Add puts the key with the 128-bit hash (hi, lo) in and reports whether it was
// there already: always true for a key that was added, true by mistake for a
// new one at the rate RateFromFill(f.Fill(), k). It does not allocate.
func (f *Filter) Add(hi, lo uint64) (was bool) {
	probes := NewProbes(hi, lo, f.m)
	added := int64(0)
	for range f.k {
		cell := probes.Next()
		word, bit := &f.words[cell/64], uint64(1)<<(cell%64)
		// The load keeps a key that is there from dirtying a cache line.
		if word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			added++
		}
	}
	if added == 0 {
		return true
	}
	f.ones.Add(added)
	f.keys.Add(1)
	return false
}

// Has reports whether the key with the hash (hi, lo) is there, with the same
// certainty as Add, and changes nothing.
func (f *Filter) Has(hi, lo uint64) bool {
	probes := NewProbes(hi, lo, f.m)
	for range f.k {
		cell := probes.Next()
		if f.words[cell/64].Load()&(1<<(cell%64)) == 0 {
			return false
		}
	}
	return true
}

// Keys returns the number of distinct keys added since the last Clear: every
// Add that set a bit. A new key that met only set bits is not counted (at most
// the false positive rate of them); one added at the same moment by several
// callers may count once for each.
func (f *Filter) Keys() int64 { return f.keys.Load() }

// Fill returns the share of bits that are set, in [0, 1]. It reads a counter,
// not the array. While an Add or Clear is under way it may be off by the bits
// that call has changed and not yet counted, so the bounds are enforced.
func (f *Filter) Fill() float64 { return fill(f.ones.Load(), f.m) }

// Bytes returns the memory of the array.
func (f *Filter) Bytes() int64 { return int64(len(f.words)) * 8 }

// Clear takes every key out, slice by slice as Sweep does. It may run beside
// Add and Has: an Add that overlaps it can lose its bits or leave up to k of
// them, and up to one in Keys, behind.
func (f *Filter) Clear() {
	gone := int64(0)
	Sweep(f.words, func(old uint64) { gone += int64(bits.OnesCount64(old)) })
	f.ones.Add(-gone)
	f.keys.Store(0)
}

// fill returns used/m held within [0, 1].
func fill(used int64, m uint64) float64 {
	return min(max(float64(used)/float64(m), 0), 1)
}
