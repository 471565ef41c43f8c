package cache

import "sync/atomic"

// table is an array of places with numbers from 1. A place never moves. Anyone may call at with a number that was
// taken; take and give are the writer's. The owner of a number decides what its place holds and who changes it.
type table[T any] struct {
	pages atomic.Pointer[[]*[tablePage]T] // replaced when it grows, with the same pages
	free  []uint32
	taken uint32 // how many numbers were ever taken
}

// tablePage is how many places are allocated at once.
const tablePage = 4096

// at returns the place of n.
func (t *table[T]) at(n uint32) *T { return &(*t.pages.Load())[n/tablePage][n%tablePage] }

// end returns a number above all that were taken before the call. Anyone may call it, and at with any number below from 1 on.
func (t *table[T]) end() int {
	if pages := t.pages.Load(); pages != nil {
		return len(*pages) * tablePage
	}
	return 0
}

// take returns a free number. Its place has the content that the last owner left.
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
