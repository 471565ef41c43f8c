package counting

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"edgeproxy/internal/bloom"
)

// Max is the largest count one generation can hold for a key. A counter that
// has reached it has lost count and stays there until its generation is cleared.
const Max = 15

const cellsPerWord = 64 / 4

// cells is one generation: m counters of 4 bits, k of them for each key. A
// word is changed by compare-and-swap, so simultaneous changes to its sixteen
// counters are all kept and none carries into a neighbour.
type cells struct {
	words []atomic.Uint64
	m     uint64
	k     int

	_ [64]byte // the counters below change with every new key, the fields above never

	used atomic.Int64 // counters above 0: counted where they change, so exact at rest
	keys atomic.Int64
}

// newCells panics where m or k is out of the bounds of package bloom.
func newCells(m uint64, k int) *cells {
	if m < bloom.MinCells || m > bloom.MaxCells || k < 1 || k > bloom.MaxProbes {
		panic(fmt.Sprintf("counting: generation of %d counters, %d a key: out of bounds", m, k))
	}
	return &cells{words: make([]atomic.Uint64, (m+cellsPerWord-1)/cellsPerWord), m: m, k: k}
}

// add counts one sighting and returns the key's count with it, and whether a
// counter left 0, which makes the key a new one. Of simultaneous adds of one
// key none is lost, but each may be told a count that leaves the others out.
func (c *cells) add(hi, lo uint64) (count int, fresh bool) {
	probes := bloom.NewProbes(hi, lo, c.m)
	opened := int64(0)
	count = Max
	for range c.k {
		now, changed := c.raise(probes.Next())
		if changed && now == 1 {
			opened++
		}
		count = min(count, now)
	}
	if opened == 0 {
		return count, false
	}
	c.used.Add(opened)
	c.keys.Add(1)
	return count, true
}

// estimate returns the smallest of the key's counters.
func (c *cells) estimate(hi, lo uint64) int {
	probes := bloom.NewProbes(hi, lo, c.m)
	least := Max
	for range c.k {
		if least = min(least, c.value(probes.Next())); least == 0 {
			return 0
		}
	}
	return least
}

// remove takes one sighting back and reports whether there was one. Where a
// counter turns out to be 0 on the way (another remove was faster, or the
// generation is being cleared) what was taken is given back.
func (c *cells) remove(hi, lo uint64) bool {
	if c.estimate(hi, lo) == 0 {
		return false
	}
	probes := bloom.NewProbes(hi, lo, c.m)
	closed, taken := int64(0), uint64(0) // taken: bit i is set where the i-th probe was lowered
	for i := range c.k {
		was, lowered := c.lower(probes.Next())
		if was == 0 {
			c.used.Add(-closed)
			c.giveBack(hi, lo, taken)
			return false
		}
		if lowered {
			taken |= 1 << i
		}
		if was == 1 {
			closed++
		}
	}
	if closed > 0 {
		c.used.Add(-closed)
		c.keys.Add(-1)
	}
	return true
}

// giveBack raises those counters of a key whose bit in taken is set.
func (c *cells) giveBack(hi, lo, taken uint64) {
	probes := bloom.NewProbes(hi, lo, c.m)
	for i := range c.k {
		cell := probes.Next()
		if taken&(1<<i) == 0 {
			continue
		}
		if now, changed := c.raise(cell); changed && now == 1 {
			c.used.Add(1)
		}
	}
}

// raise adds 1 to a counter below Max and returns its value then.
func (c *cells) raise(cell uint64) (now int, changed bool) {
	word, shift := c.place(cell)
	for {
		old := word.Load()
		v := int(old >> shift & Max)
		if v == Max {
			return Max, false
		}
		if word.CompareAndSwap(old, old+1<<shift) {
			return v + 1, true
		}
	}
}

// lower takes 1 from a counter that is neither 0 nor Max and returns its value
// before.
func (c *cells) lower(cell uint64) (was int, changed bool) {
	word, shift := c.place(cell)
	for {
		old := word.Load()
		v := int(old >> shift & Max)
		if v == 0 || v == Max {
			return v, false
		}
		if word.CompareAndSwap(old, old-1<<shift) {
			return v, true
		}
	}
}

func (c *cells) value(cell uint64) int {
	word, shift := c.place(cell)
	return int(word.Load() >> shift & Max)
}

func (c *cells) place(cell uint64) (word *atomic.Uint64, shift uint64) {
	return &c.words[cell/cellsPerWord], cell % cellsPerWord * 4
}

// Keys returns the number of distinct keys held: adds that opened a counter
// less removes that closed one. Removing keys that share counters may take more
// than was counted, so it is held at 0.
func (c *cells) Keys() int64 { return max(c.keys.Load(), 0) }

// Fill returns the share of counters above 0. While a call is under way it may
// be off by what that call has changed and not yet counted.
func (c *cells) Fill() float64 {
	return min(max(float64(c.used.Load())/float64(c.m), 0), 1)
}

// Bytes returns the memory of the counters.
func (c *cells) Bytes() int64 { return int64(len(c.words)) * 8 }

// Clear sets every counter to 0, beside other calls as bloom.Sweep does.
func (c *cells) Clear() {
	gone := int64(0)
	bloom.Sweep(c.words, func(old uint64) { gone += int64(inUse(old)) })
	c.used.Add(-gone)
	c.keys.Store(0)
}

// inUse returns how many of a word's counters are above 0.
func inUse(word uint64) int {
	word |= word >> 1
	word |= word >> 2
	return bits.OnesCount64(word & 0x1111_1111_1111_1111)
}
