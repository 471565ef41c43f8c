package textbook

import "edgeproxy/internal/bloom"

// Remove takes one sighting of the key back and reports whether there was one.
// Under Conservative update it does nothing and returns ErrConservative.
//
// Only what was added may be removed, and once: taking what belongs to others
// makes their counts too low. A counter at 15 stays there, since it may have gone
// beyond that. Where a counter turns out to be 0 on the way (another
// Remove was faster, or Clear is at work) what was taken is given back.
func (c *Counters) Remove(hi, lo uint64) (was bool, err error) {
	if c.update == Conservative {
		return false, ErrConservative
	}
	if c.Estimate(hi, lo) == 0 {
		return false, nil
	}
	probes := bloom.NewProbes(hi, lo, c.m)
	closed, taken := int64(0), uint64(0) // taken: bit i is set where the i-th probe was lowered
	for i := range c.k {
		was, lowered := c.lower(probes.Next())
		if was == 0 {
			c.used.Add(-closed)
			c.giveBack(hi, lo, taken)
			return false, nil
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
	return true, nil
}

// giveBack raises those counters of a key whose bit in taken is set.
func (c *Counters) giveBack(hi, lo, taken uint64) {
	probes := bloom.NewProbes(hi, lo, c.m)
	for i := range c.k {
		cell := probes.Next()
		if taken&(1<<i) == 0 {
			continue
		}
		if now, changed := c.raise(cell, counterMax); changed && now == 1 {
			c.used.Add(1)
		}
	}
}

// lower takes 1 from a counter that is neither 0 nor saturated and returns its
// value before.
func (c *Counters) lower(cell uint64) (was int, changed bool) {
	word, shift := c.place(cell)
	for {
		old := word.Load()
		v := int(old >> shift & counterMax)
		if v == 0 || v == counterMax {
			return v, false
		}
		if word.CompareAndSwap(old, old-1<<shift) {
			return v, true
		}
	}
}
