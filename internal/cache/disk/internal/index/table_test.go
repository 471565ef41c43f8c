package index

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestATableGrowsWhileItIsUsed has the table replaced again and again while words are put, moved, removed and filled in: nothing that is there is
// missed for a moment, and nothing that was removed is back.
func TestATableGrowsWhileItIsUsed(t *testing.T) {
	const keys, writers, rounds, growths = 400, 2, 3000, 20
	x := NewTable(3 * keys)
	var mu sync.Mutex
	var said []Entry // all that any key ever had: what the segments would list
	say := func(n, version int) Place {
		p := placeOf(n + version*keys)
		mu.Lock()
		defer mu.Unlock()
		said = append(said, Entry{hashOf(n), p})
		return p
	}
	fixed := func(n int) bool { return n%4 == 0 } // put once, and looked up all the while
	for n := range keys {
		if fixed(n) {
			x.Put(hashOf(n), say(n, 0))
		}
	}
	var done atomic.Bool
	var begun atomic.Int64 // growths
	var work, readers sync.WaitGroup
	has := make([]map[int]Place, writers)
	for w := range writers {
		has[w] = map[int]Place{}
		work.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for version := 1; version < rounds; version++ {
				if version%(rounds/growths) == 0 { // the next words meet a growth that has just begun
					was := begun.Load()
					if !testkit.ComesTrue(func() bool { return begun.Load() > was }) {
						t.Error("it does not grow any more")
						return
					}
				}
				n := r.IntN(keys/writers)*writers + w
				if fixed(n) {
					continue
				}
				h, p := hashOf(n), has[w][n]
				_, there := has[w][n]
				switch to := say(n, version); {
				case there && version%3 == 0:
					if !x.Remove(h, p) {
						t.Errorf("key %d is not there to be removed", n)
					}
					delete(has[w], n)
				case there:
					if !x.Swap(h, p, to) {
						t.Errorf("key %d is not there to be moved", n)
					}
					has[w][n] = to
				case version%2 == 0:
					x.Fill([]Entry{{h, to}}, func(_, _ Place) bool { return false }, func(Place) {}, func() {})
					has[w][n] = to
				default:
					x.Put(h, to)
					has[w][n] = to
				}
			}
		})
	}
	readers.Go(func() {
		var room [16]Place
		for n := 0; !done.Load(); n = (n + 4) % keys {
			if !slices.Contains(x.Find(hashOf(n), room[:0]), placeOf(n)) || !x.Has(hashOf(n)) {
				t.Errorf("key %d is missed", n)
				return
			}
		}
	})
	go func() {
		work.Wait()
		done.Store(true)
	}()
	for !done.Load() {
		x.Begin(3 * keys)
		begun.Add(1)
		mu.Lock()
		all := slices.Clone(said)
		mu.Unlock()
		x.Copy(all)
		x.End(true)
	}
	readers.Wait()
	want := 0
	for n := range keys {
		p, there := has[n%writers][n]
		if fixed(n) {
			p, there = placeOf(n), true
		}
		got := x.Find(hashOf(n), nil)
		if there {
			want++
		}
		if there && !slices.Contains(got, p) || !there && len(got) > 0 {
			t.Errorf("key %d: got %v, want %v, %v", n, got, p, there)
		}
	}
	if x.Len() != want {
		t.Errorf("got %d words, want %d", x.Len(), want)
	}
}

func TestAGrownTableKeepsTheHits(t *testing.T) {
	x := NewTable(100)
	var all []Entry
	for n := range 100 {
		x.Put(hashOf(n), placeOf(n))
		all = append(all, Entry{hashOf(n), placeOf(n)})
		for range n % (MaxHits + 1) {
			x.Touch(hashOf(n), placeOf(n))
		}
	}
	before := x.Bytes()
	if x.Fits(30) {
		t.Error("it fits though it is full")
	}
	x.Begin(1000)
	if both := x.Bytes(); both < 9*before {
		t.Errorf("it says that both take %d bytes, one takes %d", both, before)
	}
	x.Copy(append(all, Entry{hashOf(200), placeOf(200)})) // this one was never there
	x.End(false)
	if x.Bytes() != before || x.Objects() > 200 {
		t.Error("it was given up, and is in use")
	}
	x.Begin(1000)
	x.Copy(all)
	x.End(true)
	for n := range 100 {
		if hits, ok := x.Hits(hashOf(n), placeOf(n)); !ok || hits != n%(MaxHits+1) {
			t.Errorf("object %d: got %d hits, %v", n, hits, ok)
		}
	}
	if x.Len() != 100 || x.Objects() < 1000 || !x.Fits(800) {
		t.Errorf("got %d words in a table for %d", x.Len(), x.Objects())
	}
}
