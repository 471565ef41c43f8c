package cache

import "sync/atomic"

// table is a list of places under numbers, the first of which is 1. A place stays where it is. Anyone may ask for the place of
// a number that was taken; take and give are the writer's. What a place has, and who changes it, is its owner's affair.
type table[T any] struct {
	pages atomic.Pointer[[]*[tablePage]T] // another list when it grows, of the same pages
	free  []uint32
	taken uint32 // so many numbers were ever taken
}

// tablePage is how many places are made at once.
const tablePage = 4096

// at returns the place of n.
func (t *table[T]) at(n uint32) *T { return &(*t.pages.Load())[n/tablePage][n%tablePage] }

// take returns a number that nobody has. Its place is as the one before has left it.
func (t *table[T]) take() uint32 {
	if last := len(t.free) - 1; last >= 0 {
		n := t.free[last]
		t.free = t.free[:last]
		return n
	}
	t.taken++
	var pages []*[tablePage]T
	if old := t.pages.Load(); old != nil {
		pages = *old
	}
	if int(t.taken/tablePage) >= len(pages) {
		grown := make([]*[tablePage]T, len(pages)+1)
		copy(grown, pages)
		grown[len(pages)] = new([tablePage]T)
		t.pages.Store(&grown)
	}
	return t.taken
}

// give takes n back. A reader may still look at its place.
func (t *table[T]) give(n uint32) { t.free = append(t.free, n) }
