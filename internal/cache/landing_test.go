package cache

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// What is replaced while it is in the window leaves a hole in a landing region, which cannot be emptied while something else
// of the window lies there. However often that is, the holes stay within their bound.
func TestHolesOfWhatIsReplacedInTheWindowStayWithinTheirBound(t *testing.T) {
	s := newSmallRegions(t, 2<<20)
	b := &s.main.blocks
	r := rand.New(rand.NewPCG(5, 6))
	alone := 0
	for i := range 20_000 {
		name := "/hot"
		if i%40 == 0 {
			name = "/" + strconv.Itoa(i)
		}
		mustPut(t, s, told(name, uint64(i+1), 50+r.IntN(400)))
		if o := s.window.peek(sum(name)).value; o.place == 0 {
			alone++
		}
		if holes, most := b.landings.holes(), b.landings.held/holesShare+(landingSpare+1)*int64(b.regionWords); holes > most {
			t.Fatalf("after %d: got %d words of holes in landing regions beside %d, want at most %d", i, holes, b.landings.held, most)
		}
		o, ok := find(s, sum(name), []byte(name))
		if !ok {
			t.Fatalf("got no %s, want what was stored just now", name)
		}
		checkTold(t, o, name)
	}
	checkBlocks(t, s)
	if alone == 0 || alone == 20_000 {
		t.Errorf("got %d of 20000 alone, want some: where the holes are too many, and no others", alone)
	}
}

// A small response lies where it has landed until it leaves, or its region is emptied: nothing copies it on its way to the main part.
func TestWhatLandsStaysWhereItIsWhenItMoves(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	mustPut(t, s, told("/first", 1, 300))
	landed, ok := find(s, sum("/first"), []byte("/first"))
	if !ok || landed.place == 0 {
		t.Fatal("got it alone, want it in a landing region")
	}
	for i := 0; s.window.peek(sum("/first")) != nil; i++ {
		mustPut(t, s, told("/"+strconv.Itoa(i), uint64(i+2), 300))
	}
	if moved := s.main.find(sum("/first")); moved != landed {
		t.Errorf("got it at %p in the main part, want it at %p, where it landed", moved, landed)
	}
	checkBlocks(t, s)
}

// What a promotion lets in lands in a region like any other, and what was staged stays what it was for its readers.
func TestWhatIsPromotedLandsInARegion(t *testing.T) {
	s := newSmallRegions(t, 1<<20)
	if o := s.PutStage(told("/a", 1, 300), nil); o != Stored {
		t.Fatalf("got %v, want it staged", o)
	}
	staged, heldBack := s.Find(sum("/a"), []byte("/a"))
	if staged == nil || !heldBack {
		t.Fatal("got nothing in the stage")
	}
	if !s.Promote(sum("/a"), []byte("/a"), 0) {
		t.Fatal("got no promotion")
	}
	o, ok := find(s, sum("/a"), []byte("/a"))
	if !ok || o.place == 0 || o == staged {
		t.Errorf("got %v, want it in a region", o)
	}
	checkTold(t, o, "/a")
	checkTold(t, staged, "/a")
	checkBlocks(t, s)
}
