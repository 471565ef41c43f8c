package textbook

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"edgeproxy/internal/bloom"
)

// Update is what an Add does to the counters of a key.
type Update uint8

// The updates. The zero value is Plain.
const (
	// Plain raises all k counters of the key. What an Add did a Remove can undo.
	Plain Update = iota

	// Conservative raises only those that are the key's smallest: no other can
	// bear witness, so raising it would only make other keys' counts too high
	// (Estan and Varghese, "New directions in traffic measurement and
	// accounting", SIGCOMM 2002, section 3.3; "minimal increase" of Cohen and
	// Matias, "Spectral Bloom filters", SIGMOD 2003). It errs several times less
	// often, and excludes Remove: a counter that an Add left alone must not be
	// lowered for it.
	Conservative
)

// String returns "plain" or "conservative".
func (u Update) String() string {
	switch u {
	case Plain:
		return "plain"
	case Conservative:
		return "conservative"
	default:
		return "unknown"
	}
}

// ErrConservative is the error of Remove under Conservative update: it would
// take from counters that the key's Adds never raised, and make the counts of
// other keys too low.
var ErrConservative = errors.New("counting: conservative update excludes removal")

// counterMax is the value at which a counter of 4 bits saturates.
const counterMax = 15

// countersPerWord is how many counters share a word.
const countersPerWord = 64 / 4

// Counters is the textbook counting Bloom filter: m counters of 4 bits, k of
// them for each key anywhere in the array (Fan, Cao, Almeida and Broder,
// "Summary cache", IEEE/ACM ToN 8(3), 2000). The count of a key is the smallest
// of its counters.
//
// With n keys in, an unseen key is counted at all at the rate of a Bloom filter
// of m bits, (1 - e^(-kn/m))^k: bloom.FalsePositiveRate. A counter that has
// reached 15 has lost count: it stays there, whatever is removed, until Clear.
// OverflowBound says how rare that is for keys added once each. Within that
// limit a count is never too low: Estimate is at least the number of Adds less
// the number of Removes, or 15 where that is more.
//
// All methods are safe for concurrent use, take no lock and do not allocate. A
// word is changed by compare-and-swap, so simultaneous changes to its sixteen
// counters are all kept and none carries into a neighbour. It is a
// bloom.Generation.
type Counters struct {
	words  []atomic.Uint64
	m      uint64
	k      int
	update Update

	_ [64]byte // the counts below change with every new key, the fields above never

	used atomic.Int64 // counters above 0: counted where they change, so exact at rest
	keys atomic.Int64
}

// NewCounters returns m counters at 0, k of them a key. It panics where m or k
// is out of the bounds of package bloom, or u is none of the updates;
// bloom.Size gives m and k for a wanted rate.
func NewCounters(m uint64, k int, u Update) *Counters {
	if m < bloom.MinCells || m > bloom.MaxCells || k < 1 || k > bloom.MaxProbes || u > Conservative {
		panic(fmt.Sprintf("counting: %d counters, %d a key, update %d: out of bounds", m, k, u))
	}
	return &Counters{
		words: make([]atomic.Uint64, (m+countersPerWord-1)/countersPerWord),
		m:     m, k: k, update: u,
	}
}

// Add counts one sighting of the key with the 128-bit hash (hi, lo). It returns
// the key's count with it, in 1..15, and whether the key is a new one: a counter
// of it left 0.
//
// Simultaneous Adds of different keys lose nothing. Those of one key lose
// nothing under Plain update, but each may be told a count that leaves the
// others out; under Conservative update they may count as one, but every Add
// counts that begins after another has returned.
func (c *Counters) Add(hi, lo uint64) (count int, fresh bool) {
	opened := int64(0)
	if c.update == Conservative {
		count, opened = c.addConservative(hi, lo)
	} else {
		count, opened = c.addPlain(hi, lo)
	}
	if opened == 0 {
		return count, false
	}
	c.used.Add(opened)
	c.keys.Add(1)
	return count, true
}

// addPlain raises every counter of the key; opened is how many of them were 0.
func (c *Counters) addPlain(hi, lo uint64) (count int, opened int64) {
	probes := bloom.NewProbes(hi, lo, c.m)
	count = counterMax
	for range c.k {
		now, changed := c.raise(probes.Next(), counterMax)
		if changed && now == 1 {
			opened++
		}
		count = min(count, now)
	}
	return count, opened
}

// addConservative raises those counters of the key that are not above its count
// to one more than that. A racing Add of another key can only have raised them
// meanwhile, which serves as well: each is left at no less than is due to
// either.
func (c *Counters) addConservative(hi, lo uint64) (count int, opened int64) {
	count = min(c.Estimate(hi, lo)+1, counterMax)
	probes := bloom.NewProbes(hi, lo, c.m)
	for range c.k {
		cell := probes.Next()
		for {
			now, changed := c.raise(cell, count)
			if changed && now == 1 {
				opened++
			}
			if now >= count {
				break
			}
		}
	}
	return count, opened
}

// Estimate returns the key's count, in 0..15: the smallest of its counters.
func (c *Counters) Estimate(hi, lo uint64) int {
	probes := bloom.NewProbes(hi, lo, c.m)
	least := counterMax
	for range c.k {
		if least = min(least, c.value(probes.Next())); least == 0 {
			return 0
		}
	}
	return least
}

// MoreThan reports whether the key was counted more than n times. It asks no
// more counters than it takes to say no. No count is above 15, so from n = 15 on
// the answer is always no.
func (c *Counters) MoreThan(hi, lo uint64, n int) bool {
	probes := bloom.NewProbes(hi, lo, c.m)
	for range c.k {
		if c.value(probes.Next()) <= n {
			return false
		}
	}
	return true
}

// raise adds 1 to a counter below top and returns its value then.
func (c *Counters) raise(cell uint64, top int) (now int, changed bool) {
	word, shift := c.place(cell)
	for {
		old := word.Load()
		v := int(old >> shift & counterMax)
		if v >= top {
			return v, false
		}
		if word.CompareAndSwap(old, old+1<<shift) {
			return v + 1, true
		}
	}
}

func (c *Counters) value(cell uint64) int {
	word, shift := c.place(cell)
	return int(word.Load() >> shift & counterMax)
}

func (c *Counters) place(cell uint64) (word *atomic.Uint64, shift uint64) {
	return &c.words[cell/countersPerWord], cell % countersPerWord * 4
}

// Keys returns the number of distinct keys held: Adds that opened a counter less
// Removes that closed one, at least 0. Where keys that share counters are
// removed it is off by some per cent of them: a Remove may close none, or one
// that another key had opened.
func (c *Counters) Keys() int64 { return max(c.keys.Load(), 0) }

// Fill returns the share of counters above 0, in [0, 1], without a scan. While a
// call is under way it may be off by what that call has changed and not yet
// counted.
func (c *Counters) Fill() float64 {
	return min(max(float64(c.used.Load())/float64(c.m), 0), 1)
}

// Bytes returns the memory of the counters.
func (c *Counters) Bytes() int64 { return int64(len(c.words)) * 8 }

// Clear sets every counter to 0, saturated ones too, slice by slice as
// bloom.Sweep does. It may run beside other calls: an Add that overlaps it can
// lose its sighting or leave up to k counters of it, and up to one in Keys,
// behind.
func (c *Counters) Clear() {
	gone := int64(0)
	bloom.Sweep(c.words, func(old uint64) { gone += int64(countersAbove0(old)) })
	c.used.Add(-gone)
	c.keys.Store(0)
}

// countersAbove0 returns how many of a word's counters are not 0.
func countersAbove0(word uint64) int {
	word |= word >> 1
	word |= word >> 2
	return bits.OnesCount64(word & 0x1111_1111_1111_1111)
}
