package index

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// TestFindsWhatIsThereWhileItMoves looks up words that stay, while writers put and
// remove others around them at a load at which words move all the time.
func TestFindsWhatIsThereWhileItMoves(t *testing.T) {
	const stay, others, rounds = 24, 24, 200_000
	x := New(stay + others/2 - 1)
	for n := range stay {
		x.Put(hashOf(n), placeOf(n))
		for range MaxHits {
			x.Touch(hashOf(n), placeOf(n)) // so that they are not pushed out
		}
	}
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	for w := range 2 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 2))
			for range rounds {
				n := stay + w*others/2 + rng.IntN(others/2)
				if !x.Remove(hashOf(n), placeOf(n)) {
					x.Put(hashOf(n), placeOf(n))
				}
			}
		})
	}
	for r := range 2 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(r), 3))
			var room [16]Place
			for !done.Load() {
				n := rng.IntN(stay)
				if !x.Has(hashOf(n)) || !slices.Contains(x.Find(hashOf(n), room[:0]), placeOf(n)) {
					t.Errorf("object %d is not found", n)
					return
				}
				x.Touch(hashOf(n), placeOf(n))
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	moves := uint32(0)
	for i := range x.moves {
		moves += x.moves[i].Load()
	}
	if moves == 0 {
		t.Error("no word has moved: the test shows nothing")
	}
	if x.Len() != x.used() {
		t.Errorf("Len() = %d with %d slots in use", x.Len(), x.used())
	}
}

// TestEachWordLeavesOnce has several writers put, swap and remove the same keys in a
// full table: of what goes in, each place comes out by one call or is still there.
func TestEachWordLeavesOnce(t *testing.T) {
	const writers, rounds, keys = 4, 20_000, 200
	x := New(keys / 2)
	left := make([]map[Place]int, writers)
	var all sync.WaitGroup
	for w := range writers {
		left[w] = map[Place]int{}
		all.Go(func() { churn(x, w, rounds, keys, left[w]) })
	}
	all.Wait()
	count := map[Place]int{}
	for _, some := range left {
		for p, n := range some {
			count[p] += n
		}
	}
	for k := range keys {
		for _, p := range x.Find(hashOf(k), nil) {
			count[p]--
		}
	}
	for p, n := range count {
		if n != 0 {
			t.Fatalf("%v went in %d times more than it came out or is there", p, n)
		}
	}
	if x.Len() != x.used() {
		t.Errorf("Len() = %d with %d slots in use", x.Len(), x.used())
	}
}

// churn makes random calls and counts in in how often each place went in, less how
// often it came out by a call of this goroutine.
func churn(x *Index, w, rounds, keys int, in map[Place]int) {
	rng := rand.New(rand.NewPCG(uint64(w), 4))
	for n := range rounds {
		h, p := hashOf(rng.IntN(keys)), Place{Segment: uint16(w), Offset: uint32(n)}
		found := x.Find(h, nil)
		switch {
		case len(found) == 0 || rng.IntN(4) == 0:
			in[p]++
			if lost, wasLost := x.Put(h, p); wasLost {
				in[lost]--
			}
		case rng.IntN(2) == 0:
			if x.Swap(h, found[0], p) {
				in[p]++
				in[found[0]]--
			}
		default:
			if x.Remove(h, found[0]) {
				in[found[0]]--
			}
		}
		x.Touch(h, p)
		x.Cool(h, p)
	}
}
