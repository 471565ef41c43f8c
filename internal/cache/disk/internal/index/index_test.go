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

func TestASampleFindsTheShareOfWordsWithHits(t *testing.T) {
	const objects = 200_000
	x := New(objects)
	for i := range objects {
		p := placeOf(i)
		p.Class = uint8(i % 2)
		x.Put(hashOf(i), p)
		if i%2 == 1 && i%8 < 4 {
			x.Touch(hashOf(i), p)
		}
	}
	words, hit := x.Sample(2 * objects)
	if words[0] != objects/2 || words[1] != objects/2 || hit[0] != 0 || hit[1] != objects/4 {
		t.Errorf("of all: got %v and %v with hits of classes 0 and 1, want %d of each and %d of class 1", words[:2], hit[:2], objects/2, objects/4)
	}
	words, hit = x.Sample(objects / 10)
	if n := words[0] + words[1]; n < objects/12 || n > objects/6 {
		t.Errorf("got a sample of %d, want about %d", n, objects/10)
	}
	if share := float64(hit[1]) / float64(words[1]); hit[0] != 0 || share < 0.47 || share > 0.53 {
		t.Errorf("got %v of %v, want about half of class 1", hit[:2], words[:2])
	}
}
