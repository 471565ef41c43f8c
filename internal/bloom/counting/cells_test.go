package counting

import (
	"math/rand/v2"
	"sync"
	"testing"

	"edgeproxy/internal/bloom"
)

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(key*2*0x9e3779b97f4a7c15 + 1), mix((key*2 + 1) * 0x9e3779b97f4a7c15)
}

// inUseNow counts what Fill counts, by a scan.
func (c *cells) inUseNow() (n int64) {
	for i := range c.m {
		if c.value(i) > 0 {
			n++
		}
	}
	return n
}

func TestRaiseAndLowerStayInTheirCounter(t *testing.T) {
	c := newCells(64, 1)
	for cell := range uint64(cellsPerWord) {
		for range Max + 3 { // beyond the top: no carry into the neighbour
			c.raise(cell)
		}
		for other := range c.m {
			want := 0
			if other <= cell {
				want = Max
			}
			if got := c.value(other); got != want {
				t.Fatalf("counter %d after raising 0 to %d: got %d, want %d", other, cell, got, want)
			}
		}
	}
	for range 3 { // below 0: no borrow
		if was, changed := c.lower(20); was != 0 || changed {
			t.Fatalf("lower a counter of 0: got %d and %v, want 0 and no change", was, changed)
		}
	}
	if was, changed := c.lower(3); was != Max || changed {
		t.Errorf("lower a counter at Max: got %d and %v, want no change", was, changed)
	}
}

func TestInUseCountsEveryNibble(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		word := random.Uint64() & random.Uint64() & random.Uint64()
		want := 0
		for shift := 0; shift < 64; shift += 4 {
			if word>>shift&0xf != 0 {
				want++
			}
		}
		if got := inUse(word); got != want {
			t.Fatalf("%016x: got %d counters in use, want %d", word, got, want)
		}
	}
}

// Adds commute, so the array after many workers must equal, counter by counter,
// the one a single worker leaves.
func TestConcurrentAddsLoseNothing(t *testing.T) {
	const workers, keys, rounds = 4, 300, 4
	together, alone := newCells(4096, 5), newCells(4096, 5)
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			for round := range uint64(rounds) {
				for i := range uint64(keys) {
					together.add(hash((i*(2*w+1) + round) % keys))
				}
			}
		})
	}
	wg.Wait()
	for w := range uint64(workers) {
		for round := range uint64(rounds) {
			for i := range uint64(keys) {
				alone.add(hash((i*(2*w+1) + round) % keys))
			}
		}
	}
	for i := range alone.m {
		if got, want := together.value(i), alone.value(i); got != want {
			t.Fatalf("counter %d: got %d, want %d", i, got, want)
		}
	}
	if got, want := together.used.Load(), together.inUseNow(); got != want {
		t.Errorf("counters in use: got %d counted, want the %d there are", got, want)
	}
}

// Every worker adds and removes its own keys again, so nothing may be left: a
// removal that took too much or too little, or gave back wrongly, shows.
func TestConcurrentRemovesGiveEverythingBack(t *testing.T) {
	const workers, keys = 4, 200
	c := newCells(16_384, 5)
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			for range 5 {
				for i := range uint64(keys) {
					c.add(hash(w*keys + i))
				}
				for i := range uint64(keys) {
					if !c.remove(hash(w*keys + i)) {
						t.Errorf("remove of added key %d: got false, want true", w*keys+i)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if n, used := c.inUseNow(), c.used.Load(); n != 0 || used != 0 {
		t.Errorf("after removing all: got %d counters above 0, %d counted, want none", n, used)
	}
}

// A key two of whose probes fall on one counter was not added where that
// counter is 1: remove finds out half way, as it does when it loses a race, and
// must give back what it took.
func TestRemoveThatFailsHalfWayLeavesNoTrace(t *testing.T) {
	tried := 0
	for key := range uint64(200) {
		hi, lo := hash(key)
		c := newCells(64, 8)
		probes, raised := bloom.NewProbes(hi, lo, c.m), int64(0)
		for range c.k {
			if cell := probes.Next(); c.value(cell) == 0 {
				c.raise(cell)
				raised++
			}
		}
		if raised == int64(c.k) {
			continue // all probes differ
		}
		tried++
		c.used.Store(raised)
		if c.remove(hi, lo) {
			t.Fatalf("key %d: got removed, want refused", key)
		}
		if n, counted := c.inUseNow(), c.used.Load(); n != raised || counted != raised {
			t.Fatalf("key %d: got %d counters above 0, %d counted, want the %d of before", key, n, counted, raised)
		}
	}
	if tried < 20 {
		t.Errorf("only %d keys had two probes on one counter", tried)
	}
}

func TestGiveBackRaisesOnlyWhatWasTaken(t *testing.T) {
	c := newCells(1024, 5)
	hi, lo := hash(3)
	c.giveBack(hi, lo, 0b10010)
	sum := 0
	for i := range c.m {
		sum += c.value(i)
	}
	if sum != 2 || c.used.Load() != 2 {
		t.Errorf("got a sum of %d and %d in use, want the 2 counters named", sum, c.used.Load())
	}
}

func TestNewCellsPanicsOutOfBounds(t *testing.T) {
	f := func(m uint64, k int) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("newCells(%d, %d): got cells, want a panic", m, k)
			}
		}()
		newCells(m, k)
	}
	f(1, 1)
	f(1<<60, 1)
	f(1024, 0)
	f(1024, 65)
}
