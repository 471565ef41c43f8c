package cache

import "sync/atomic"

// item is an entry in its place: a copy of the caller's Entry, so that the mark
// beside it costs no second allocation and no second step on the way to the
// bytes. The mark comes first, in the cache line of Key and Name, which every
// look-up reads. Moving from window to main the item stays the same; a
// promotion makes a new one.
type item struct {
	asked atomic.Bool   // a look-up has returned it since it landed in its tier
	uses  atomic.Uint32 // of a variant: how often that was, mostUses at most; see leastUsedLocked
	Entry
}

// mostUses is where the uses of a variant are no longer counted: one in demand is read
// by all and written by none.
const mostUses = 4096

// use marks it as asked for and returns its entry. A look-up that races with the
// departure may be too late to count.
func (it *item) use() *Entry {
	if !it.asked.Load() { // read first: a popular entry's cache line stays shared
		it.asked.Store(true)
	}
	if len(it.Vary) > 0 && it.uses.Load() < mostUses {
		it.uses.Add(1)
	}
	return &it.Entry
}
