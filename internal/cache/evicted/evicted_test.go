package evicted

import (
	"math"
	"testing"
)

// The bound of each class is the last size of it, and the bounds are powers of four.
func TestASizeBelongsToTheFirstClassThatBoundsIt(t *testing.T) {
	bound := int64(1024)
	for c := range Class(Classes - 1) {
		if c.Bound() != bound || ClassOf(bound) != c || ClassOf(bound-1) != c || ClassOf(bound+1) != c+1 {
			t.Errorf("class %v: bound %d, want %d; of %d, of one less, of one more: %v, %v, %v", c, c.Bound(), bound, bound, ClassOf(bound), ClassOf(bound-1), ClassOf(bound+1))
		}
		bound *= 4
	}
	for size, want := range map[int64]Class{-1: 0, 0: 0, 1: 0, math.MaxInt64: Classes - 1} {
		if got := ClassOf(size); got != want {
			t.Errorf("%d bytes: got class %v, want %v", size, got, want)
		}
	}
	if got := Class(Classes - 1).Bound(); got != 0 {
		t.Errorf("the last class: got bound %d, want none", got)
	}
}

func TestEachClassHasAWordOfItsOwn(t *testing.T) {
	for c, want := range []string{"1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "larger"} {
		if got := Class(c).String(); got != want {
			t.Errorf("class %d: got %q, want %q", c, got, want)
		}
	}
}

// Each eviction is in one row of one of the two.
func TestTheRowsAddUpToAll(t *testing.T) {
	var c Counter
	var want, unread Count
	for i := range int64(40) {
		n := i * i * 1000 // up to 1.5 MB
		c.Note(n, i%3 == 0)
		want = want.Plus(Count{1, n})
		if i%3 != 0 {
			unread = unread.Plus(Count{1, n})
		}
	}
	got := c.Counts()
	if all, neverHit := got.Sum(); all != want || neverHit != unread {
		t.Errorf("got %+v and %+v never hit, want %+v and %+v", all, neverHit, want, unread)
	}
	for of := range Class(Classes) {
		if got.All(of).Objects == 0 {
			t.Errorf("class %v: got none", of)
		}
	}
	if one := got.NeverHit[0]; one != (Count{1, 1000}) {
		t.Errorf("class %v: got %+v, want the object of 1000 bytes", Class(0), one)
	}
	if one := got.Hit[0]; one != (Count{1, 0}) {
		t.Errorf("class %v: got %+v hit, want the empty object", Class(0), one)
	}
}
