package cache

import "sync/atomic"

// item is an entry in its place: a copy of the caller's Entry, so that the mark
// beside it costs no second allocation and no second step on the way to the
// bytes. The mark comes first, in the cache line of Key and Name, which every
// look-up reads. Moving from window to main the item stays the same; a
// promotion makes a new one.
type item struct {
	asked atomic.Bool // a look-up has returned it since it landed in its tier
	Entry
}

// use marks it as asked for and returns its entry. A look-up that races with the
// departure may be too late to count.
func (it *item) use() *Entry {
	if !it.asked.Load() { // read first: a popular entry's cache line stays shared
		it.asked.Store(true)
	}
	return &it.Entry
}
