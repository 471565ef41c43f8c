package textbook

import (
	"math/bits"
	"sync/atomic"

	"edgeproxy/internal/bloom"
)

// kind is how the bits of a filter are laid out; it is the byte that stands for
// it in the binary form.
type kind uint8

const (
	kindFilter      kind = 1 + iota // one array, every probe anywhere in it
	kindPartitioned                 // a row for each probe
)

func (k kind) String() string {
	if k == kindPartitioned {
		return "partitioned"
	}
	return "filter"
}

// rows is the number of rows a filter of so many probes has.
func (k kind) rows(probes int) uint64 {
	if k == kindPartitioned {
		return uint64(probes)
	}
	return 1
}

// array is what Filter and Partitioned have in common, and their methods: rows
// of bits side by side, bit i of row r at r*Cells + i.
type array struct {
	words  []atomic.Uint64
	kind   kind
	params Params
	m      uint64 // params.Cells
	k      int    // params.Probes
	stride uint64 // from one probe's row to the next: 0 where all fall into one
	span   uint64
	rule   bloom.Rule

	_ [64]byte // the counters change with every new key, the fields above never

	ones atomic.Int64 // bits set: counted where they are set and cleared, so exact at rest
	keys atomic.Int64
}

// shape gives a its parameters, which are valid, and an empty array.
func (a *array) shape(k kind, p Params) {
	a.kind, a.params = k, p
	a.m, a.k, a.span, a.rule = p.Cells, p.Probes, p.span(), p.Rule
	if a.stride = 0; k == kindPartitioned {
		a.stride = p.Cells
	}
	a.words = make([]atomic.Uint64, wordsFor(p.bits(k)))
	a.ones.Store(0)
	a.keys.Store(0)
}

func wordsFor(bits uint64) uint64 { return (bits + 63) / 64 }

// Add puts the key with the 128-bit hash (hi, lo) in and reports whether it was
// there already: always true for a key that was added, true by mistake for a
// new one at the rate RateFromFill(Fill(), k). It does not allocate.
func (a *array) Add(hi, lo uint64) (was bool) {
	probes := a.walk(hi, lo)
	added, row := int64(0), uint64(0)
	for range a.k {
		cell := row + probes.Next()
		row += a.stride
		word, bit := &a.words[cell/64], uint64(1)<<(cell%64)
		// The load keeps a key that is there from dirtying a cache line.
		if word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			added++
		}
	}
	if added == 0 {
		return true
	}
	a.ones.Add(added)
	a.keys.Add(1)
	return false
}

// Has reports whether the key with the hash (hi, lo) is there, with the same
// certainty as Add, and changes nothing.
func (a *array) Has(hi, lo uint64) bool {
	probes := a.walk(hi, lo)
	row := uint64(0)
	for range a.k {
		cell := row + probes.Next()
		row += a.stride
		if a.words[cell/64].Load()&(1<<(cell%64)) == 0 {
			return false
		}
	}
	return true
}

func (a *array) walk(hi, lo uint64) bloom.Probes {
	if a.params.Folds > 0 {
		return a.rule.Folded(hi, lo, a.span, a.m)
	}
	return a.rule.Probes(hi, lo, a.m)
}

// Params returns what the bits mean.
func (a *array) Params() Params { return a.params }

// Keys returns the number of distinct keys added since the last Clear: every
// Add that set a bit. A new key that met only set bits is not counted (at most
// the false positive rate of them); one added at the same moment by several
// callers may count once for each. After Union or Intersect it is an estimate
// from the fill.
func (a *array) Keys() int64 { return a.keys.Load() }

// Fill returns the share of bits that are set, in [0, 1]. It reads a counter,
// not the array. While an Add or Clear is under way it may be off by the bits
// that call has changed and not yet counted, so the bounds are enforced.
func (a *array) Fill() float64 {
	return min(max(float64(a.ones.Load())/float64(a.bits()), 0), 1)
}

// Bytes returns the memory of the array.
func (a *array) Bytes() int64 { return int64(len(a.words)) * 8 }

// Clear takes every key out, slice by slice as Sweep does. It may run beside
// Add and Has: an Add that overlaps it can lose its bits or leave up to k of
// them, and up to one in Keys, behind.
func (a *array) Clear() {
	gone := int64(0)
	bloom.Sweep(a.words, func(old uint64) { gone += int64(bits.OnesCount64(old)) })
	a.ones.Add(-gone)
	a.keys.Store(0)
}

func (a *array) bits() uint64 { return a.params.bits(a.kind) }
