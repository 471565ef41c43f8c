package top

import "math/bits"

// index maps a hash to its entry. It uses open addressing with linear probing and is at most half full (Knuth,
// TAOCP 3, section 6.4, algorithms L and R). It never grows.
type index struct {
	slots []uint32 // the number of an entry plus 1; 0: empty
	mask  uint64
}

func newIndex(entries int) index {
	size := uint64(1) << bits.Len(uint(2*entries-1)) //nolint:gosec // above 0
	return index{slots: make([]uint32, size), mask: size - 1}
}

// find returns the number of the entry with this hash.
func (i *index) find(hash uint64, entries []entry) (n uint32, ok bool) {
	for at := hash & i.mask; i.slots[at] != 0; at = (at + 1) & i.mask {
		if n := i.slots[at] - 1; entries[n].hash == hash {
			return n, true
		}
	}
	return 0, false
}

// insert adds a hash, which must not be in the index.
func (i *index) insert(hash uint64, n uint32) {
	at := hash & i.mask
	for i.slots[at] != 0 {
		at = (at + 1) & i.mask
	}
	i.slots[at] = n + 1
}

// remove removes a hash, which must be in the index, and moves later ones of its probe sequence up.
func (i *index) remove(hash uint64, entries []entry) {
	free := hash & i.mask
	for entries[i.slots[free]-1].hash != hash {
		free = (free + 1) & i.mask
	}
	for at := (free + 1) & i.mask; i.slots[at] != 0; at = (at + 1) & i.mask {
		home := entries[i.slots[at]-1].hash & i.mask
		if (at-home)&i.mask >= (at-free)&i.mask { // its home slot is not after the free slot
			i.slots[free] = i.slots[at]
			free = at
		}
	}
	i.slots[free] = 0
}

func (i *index) reset() { clear(i.slots) }
