package index

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Table is made for the objects that it is said to at a load of MadeFor, 9.8 bytes an object. It should grow from GrowAt on, so that it
// is done before words get lost.
const (
	MadeFor = 0.82
	GrowAt  = 0.87
)

// Table is an Index that a larger one can take the place of while it is in use. Its methods are those of Index, and may be called concurrently.
//
// To grow: Begin makes the larger one, and from then on every change is made to both. Copy brings in what was there before, from the caller's
// list of all records. End has the larger one take over. A word keeps too little of its hash to be copied by itself.
type Table struct {
	now atomic.Pointer[Index]

	mu   sync.RWMutex // for reading while a place is changed; a table begins and ends under it
	next *Index       // what grows; nil: nothing does
}

// NewTable returns an empty Table for that many objects.
func NewTable(objects int) *Table {
	t := &Table{}
	t.now.Store(madeFor(objects))
	return t
}

func madeFor(objects int) *Index { return New(int(float64(objects) * FullLoad / MadeFor)) }

// Begin makes the larger Index, for that many objects. It waits for changes that are under way. One goroutine at a time grows a Table.
func (t *Table) Begin(objects int) {
	next := madeFor(objects)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = next
}

// Copy brings those of the entries that are there into the larger Index, with their hits.
func (t *Table) Copy(entries []Entry) {
	now, next := t.now.Load(), t.next // no other goroutine changes it
	for _, e := range entries {
		hits, ok := now.Hits(e.Hash, e.Place)
		if !ok {
			continue
		}
		next.Put(e.Hash, e.Place)
		for range hits {
			next.Touch(e.Hash, e.Place)
		}
		if _, ok := now.Hits(e.Hash, e.Place); !ok { // it left, and was not here yet when it did
			next.Remove(e.Hash, e.Place)
		}
	}
}

// End has the larger Index take over; without whole it is given up.
func (t *Table) End(whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if whole {
		t.now.Store(t.next)
	}
	t.next = nil
}

// Fits reports whether n more words fit without words getting lost.
func (t *Table) Fits(n int) bool {
	x := t.now.Load()
	return float64(x.Len()+n) <= GrowAt*float64(len(x.buckets)*bucketSlots)
}

// Objects returns how many objects it is made for.
func (t *Table) Objects() int { return int(MadeFor * float64(len(t.now.Load().buckets)*bucketSlots)) }

// Find is Index.Find.
func (t *Table) Find(h uint64, into []Place) []Place { return t.now.Load().Find(h, into) }

// FindAll is Find, and also in what grows: for what has to leave both.
func (t *Table) FindAll(h uint64, into []Place) []Place {
	t.mu.RLock()
	defer t.mu.RUnlock()
	into = t.now.Load().Find(h, into)
	if t.next != nil {
		into = t.next.Find(h, into)
	}
	return into
}

// Has is Index.Has.
func (t *Table) Has(h uint64) bool { return t.now.Load().Has(h) }

// Hits is Index.Hits.
func (t *Table) Hits(h uint64, p Place) (hits int, ok bool) { return t.now.Load().Hits(h, p) }

// Touch is Index.Touch.
func (t *Table) Touch(h uint64, p Place) { t.now.Load().Touch(h, p) }

// Cool is Index.Cool.
func (t *Table) Cool(h uint64, p Place) (had int, ok bool) { return t.now.Load().Cool(h, p) }

// Put is Index.Put.
func (t *Table) Put(h uint64, p Place) (lost Place, wasLost bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lost, wasLost = t.now.Load().Put(h, p)
	if t.next != nil {
		t.next.Put(h, p)
	}
	return lost, wasLost
}

// Swap is Index.Swap.
func (t *Table) Swap(h uint64, before, p Place) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if !t.now.Load().Swap(h, before, p) {
		return false
	}
	if t.next != nil && !t.next.Swap(h, before, p) {
		t.next.Put(h, p)
	}
	return true
}

// Remove is Index.Remove.
func (t *Table) Remove(h uint64, p Place) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	was := t.now.Load().Remove(h, p)
	if t.next != nil {
		t.next.Remove(h, p)
	}
	return was
}

// Fill is Index.Fill. It calls done at its end, before the Table can begin to grow.
func (t *Table) Fill(entries []Entry, newer func(a, b Place) bool, dead func(Place), done func()) {
	for !t.fill(t.now.Load(), entries, newer, dead, done) {
		continue // another has taken over, which does not have all of them
	}
}

// fillAtOnce is how many entries are filled in before those who want to grow or change have their turn.
const fillAtOnce = 4096

// fill is Fill into x. It reports false if x is in use no more.
func (t *Table) fill(x *Index, entries []Entry, newer func(a, b Place) bool, dead func(Place), done func()) bool {
	for some := range slices.Chunk(entries, fillAtOnce) {
		t.mu.RLock()
		x.Fill(some, newer, dead)
		t.mu.RUnlock()
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.now.Load() != x {
		return false
	}
	if t.next != nil {
		t.Copy(entries)
	}
	done()
	return true
}

// Len is Index.Len.
func (t *Table) Len() int { return t.now.Load().Len() }

// Load is Index.Load.
func (t *Table) Load() float64 { return t.now.Load().Load() }

// Bytes returns the memory of the table, and of the larger one while it grows.
func (t *Table) Bytes() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.now.Load().Bytes()
	if t.next != nil {
		n += t.next.Bytes()
	}
	return n
}

// Classes is Index.Classes.
func (t *Table) Classes() [MaxClass + 1]int64 { return t.now.Load().Classes() }

// Sample is Index.Sample.
func (t *Table) Sample(most int) (words, hit [MaxClass + 1]int64) { return t.now.Load().Sample(most) }
