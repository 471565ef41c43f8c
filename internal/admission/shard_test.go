package admission

import (
	"math/rand/v2"
	"testing"
)

// crowd sights n different keys of the slice once each.
func (l lab) crowd(first, n uint64) {
	for key := range n {
		l.see(first+key, 1)
	}
}

func TestACrowdHalvesTheSliceAndLosesNothingInIt(t *testing.T) {
	l := newLab(t, 2, 0)
	const keys = 6000
	l.crowd(0, keys)
	m := l.measured()
	if m.Share >= 1.0/256 || m.Share < 1.0/256/16 {
		t.Errorf("after %d keys: got a share of %v, want it halved a few times", keys, m.Share)
	}
	if m.Keys > m.Capacity {
		t.Errorf("got %d keys kept, want at most %d", m.Keys, m.Capacity)
	}
	before := m.Unseen
	for key := range uint64(keys) {
		l.see(key, 2) // all were sighted: nothing may look unseen
	}
	l.want(before, 0, 0)
	kept := 0
	for key := range uint64(keys) {
		if hi, lo := sampled(key); l.covers(lo) {
			kept++
			if l.shard(hi).findLocked(hi, lo) == nil {
				t.Fatalf("key %d of the slice was dropped", key)
			}
		}
	}
	if got := l.measured(); got.Share != m.Share || kept == 0 {
		t.Errorf("got a share of %v and %d keys, want %v and some", got.Share, kept, m.Share)
	}
}

// Keys out of the window make room, so the share stays.
func TestForgottenKeysMakeRoom(t *testing.T) {
	l := newLab(t, 2, 0)
	for n := range uint64(100) {
		l.crowd(1000*n, 200)
		l.rotate()
		if n%2 == 0 { // else they are dropped where room is needed
			l.forget()
		}
	}
	if m := l.measured(); m.Share != 1.0/256 || m.Unseen != 100*200 {
		t.Errorf("after 100 generations of 200 keys: got share %v, unseen %d, want 1/256 and 20000", m.Share, m.Unseen)
	}
	l.rotate()
	l.forget()
	if got := l.measured().Keys; got != 0 {
		t.Errorf("all out of the window: got %d keys kept, want none", got)
	}
}

// A sighting under way keeps its entry through rotations and halvings, or its
// end would meet the entry of nobody.
func TestASightingUnderWayKeepsItsEntry(t *testing.T) {
	l := newLab(t, 2, 0)
	s := l.start(1)
	for range 3 {
		l.rotate()
	}
	l.forget()
	l.finish(1, s, 2)
	l.want(1, 1, 0)

	outside := uint64(2) // a key that the halving leaves out
	for _, lo := sampled(outside); inSlice(lo, firstBits+1); _, lo = sampled(outside) {
		outside++
	}
	s = l.start(outside)
	unseen := l.measured().Unseen
	l.bits.Store(firstBits + 1)
	l.forget()
	l.see(outside, 1) // leaves no mark any more
	l.finish(outside, s, 2)
	l.want(unseen, 1, 0)
}

func TestWithoutRoomAtTheSmallestShareTheSampleGivesUp(t *testing.T) {
	l := newLab(t, 2, 0)
	l.bits.Store(lastBits)
	for key := range uint64(3000) {
		hi, lo := hash(key)
		lo = lo << lastBits >> lastBits
		l.end(l.begin(hi, lo), hi, lo, 1)
	}
	if m := l.measured(); m.Share != 0 || m.FalsePositives != 0 || m.FalseNegatives != 0 {
		t.Errorf("got share %v, %d false positives and %d false negatives, want none", m.Share, m.FalsePositives, m.FalseNegatives)
	}
	l.forget()
	unseen := l.measured().Unseen
	hi := uint64(1)
	l.end(l.begin(hi, 0), hi, 0, 2) // not even the key of zeros
	l.want(unseen, 0, 0)
	if got := l.measured().Keys; got != 0 {
		t.Errorf("after giving up: got %d keys kept, want none", got)
	}
}

// Inserting, finding and removing at random, in a small shard where chains run
// into each other and around the end.
func TestShardAgreesWithAMap(t *testing.T) {
	const live = 1 // upto of an entry to keep
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		sh := &newShards(16 * shardCount)[0]
		model := map[uint64]bool{} // keys to be kept
		for range 100 {
			key := r.Uint64N(40)
			hi, lo := key*key<<4, key // homes collide
			switch e := sh.findLocked(hi, lo); {
			case (e != nil) != hasKey(model, key):
				t.Fatalf("key %d: got found %v, want %v", key, e != nil, hasKey(model, key))
			case e == nil && len(model) < 12:
				e = sh.insertLocked(hi, lo)
				e.begun = 1
				model[key] = r.IntN(2) == 0
				if model[key] {
					e.past.upto = live
				}
			}
			if r.IntN(10) == 0 {
				sh.dropLocked(live, firstBits)
				for key, keep := range model {
					if !keep {
						delete(model, key)
					}
				}
			}
			if sh.used != len(model) {
				t.Fatalf("got %d in use, want %d", sh.used, len(model))
			}
		}
	}
}

func hasKey(m map[uint64]bool, key uint64) bool {
	_, ok := m[key]
	return ok
}
