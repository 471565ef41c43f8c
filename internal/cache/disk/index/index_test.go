package index

import (
	"slices"
	"testing"
)

func TestPutPushesOutTheLeastWanted(t *testing.T) {
	x := New(1) // two buckets: every word has a home in both, or in one twice
	var all []Place
	h := hashOf(1)
	at := x.homes(h, tagOf(h))
	for at.first == at.other {
		h++
		at = x.homes(h, tagOf(h))
	}
	for n := range 2 * bucketSlots {
		p := Place{Segment: 65_530 + uint16(n), Offset: uint32(n)} // goes round
		if _, wasLost := x.Put(h, p); wasLost {
			t.Fatalf("Put %d pushed a word out of a table of 16 slots", n)
		}
		all = append(all, p)
	}
	x.Touch(h, all[0])
	lost, wasLost := x.Put(h, Place{Segment: 20})
	if !wasLost || lost != all[1] {
		t.Errorf("pushed out %v, %v, want %v, the oldest without a hit", lost, wasLost, all[1])
	}
	if x.Len() != 16 || x.Remove(h, all[1]) {
		t.Errorf("%d words, and the lost one can be removed; want 16, and not", x.Len())
	}
}

func TestPlacesThatDoNotFitAreNotHeld(t *testing.T) {
	x := New(10)
	fits := Place{Segment: 1, Offset: MaxOffset, Class: MaxClass}
	for _, p := range []Place{{Offset: MaxOffset + 1}, {Class: MaxClass + 1}} {
		if lost, wasLost := x.Put(7, p); !wasLost || lost != p {
			t.Errorf("Put(%v) = %v, %v, want it back", p, lost, wasLost)
		}
		x.Put(7, fits)
		if x.Swap(7, fits, p) || x.Remove(7, p) {
			t.Errorf("Swap or Remove of %v = true, want false", p)
		}
	}
	if got := x.Find(7, nil); !slices.Equal(got, []Place{fits}) {
		t.Errorf("Find = %v, want %v", got, fits)
	}
}

func TestPutTwiceIsPutOnce(t *testing.T) {
	x, p := New(10), Place{Segment: 3}
	x.Put(7, p)
	x.Touch(7, p)
	x.Put(7, p)
	if hits, _ := x.Hits(7, p); x.Len() != 1 || hits != 1 {
		t.Errorf("Len() = %d, Hits = %d, want 1 and 1", x.Len(), hits)
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	x := New(1000)
	for n := range 1000 {
		x.Put(hashOf(n), placeOf(n))
	}
	n := 0
	if got := testing.AllocsPerRun(1000, func() {
		var room [16]Place
		x.Find(hashOf(n), room[:0])
		x.Touch(hashOf(n), placeOf(n))
		n++
	}); got != 0 {
		t.Errorf("%v allocations a look-up, want 0", got)
	}
}
