package textbook

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"edgeproxy/internal/bloom"
)

func taken(t *testing.T, c *Counters, h [2]uint64) bool {
	t.Helper()
	was, err := c.Remove(h[0], h[1])
	if err != nil {
		t.Fatal(err)
	}
	return was
}

func TestConservativeCountersRefuseRemoval(t *testing.T) {
	c := NewCounters(1024, 4, Conservative)
	h := keysOf(21, 1)[0]
	c.Add(h[0], h[1])
	if was, err := c.Remove(h[0], h[1]); was || !errors.Is(err, ErrConservative) {
		t.Errorf("got %v and error %v, want false and ErrConservative", was, err)
	}
	if got := c.Estimate(h[0], h[1]); got != 1 {
		t.Errorf("count afterwards: got %d, want 1", got)
	}
}

// Why the refusal: were a removal under Conservative update to lower all
// counters of the key, another one would be forgotten.
func TestRemovalUnderConservativeUpdateWouldForgetOthers(t *testing.T) {
	forgotten := 0
	keys := keysOf(22, 400)
	c := NewCounters(1024, 3, Conservative)
	for _, h := range keys {
		c.Add(h[0], h[1])
	}
	c.update = Plain // the mistake
	for _, h := range keys[:200] {
		taken(t, c, h)
	}
	for _, h := range keys[200:] {
		if c.Estimate(h[0], h[1]) == 0 {
			forgotten++
		}
	}
	if forgotten < 20 {
		t.Errorf("got %d of 200 keys forgotten, want many", forgotten)
	}
}

// Removing everything that was added, in another order, leaves nothing; on the
// way no key is counted less often than it is still in.
func TestRemoveUndoesAdd(t *testing.T) {
	keys := keysOf(23, 300)
	random := rand.New(rand.NewPCG(24, 0))
	c := NewCounters(2048, 5, Plain)
	in, order := make([]int, len(keys)), []int{}
	for i := range keys {
		for range 1 + random.IntN(2) {
			order = append(order, i)
		}
	}
	for _, i := range order {
		c.Add(keys[i][0], keys[i][1])
		in[i]++
	}
	for i := range c.m {
		if c.value(i) == counterMax {
			t.Fatal("a counter is saturated: too small an array for this test")
		}
	}
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for n, i := range order {
		if !taken(t, c, keys[i]) {
			t.Fatalf("removal %d of key %d: got false, want true", n, i)
		}
		in[i]--
		for j, h := range keys {
			if got := c.Estimate(h[0], h[1]); got < in[j] {
				t.Fatalf("after %d removals key %d: got %d, want at least the %d left", n+1, j, got, in[j])
			}
		}
	}
	if c.above0() != 0 || c.Fill() != 0 {
		t.Errorf("after removing all: got %d counters above 0, fill %v, want none", c.above0(), c.Fill())
	}
	if got := c.Keys(); got > int64(len(keys))/20 {
		t.Errorf("after removing all: got %d keys counted, want hardly one of %d", got, len(keys))
	}
}

func TestOnlyWhatWasAddedIsRemoved(t *testing.T) {
	c := NewCounters(1<<16, 5, Plain)
	keys := keysOf(25, 2)
	c.Add(keys[0][0], keys[0][1])
	if taken(t, c, keys[1]) {
		t.Error("a key never added: got removed, want refused")
	}
	if !taken(t, c, keys[0]) || taken(t, c, keys[0]) {
		t.Error("a key added once: want it removed once")
	}
}

// A saturated counter has lost count, so nothing is taken from it: a key sighted
// 20 times and removed 20 times is still there, and no other is harmed.
func TestASaturatedCounterIsNeverLowered(t *testing.T) {
	c := NewCounters(4096, 4, Plain)
	h := keysOf(26, 1)[0]
	for range 20 {
		c.Add(h[0], h[1])
	}
	for i := range 25 {
		if !taken(t, c, h) || c.Estimate(h[0], h[1]) != counterMax {
			t.Fatalf("removal %d: got a count of %d, want it to stay at %d", i, c.Estimate(h[0], h[1]), counterMax)
		}
	}
	if c.Keys() != 1 || c.used.Load() != c.above0() {
		t.Errorf("got %d keys and %d counters counted, want 1 and the %d there are", c.Keys(), c.used.Load(), c.above0())
	}
}

// A key may have some counters saturated by others: only the rest are lowered.
func TestRemoveLowersWhatIsNotSaturated(t *testing.T) {
	c := NewCounters(4096, 4, Plain)
	h := keysOf(27, 1)[0]
	probes := bloom.NewProbes(h[0], h[1], c.m)
	full := probes.Next()
	for range counterMax {
		c.raise(full, counterMax)
	}
	c.used.Store(1)
	c.Add(h[0], h[1])
	if !taken(t, c, h) {
		t.Fatal("got refused, want removed")
	}
	if got := c.value(full); got != counterMax {
		t.Errorf("saturated counter: got %d, want %d", got, counterMax)
	}
	for range c.k - 1 {
		if got := c.value(probes.Next()); got != 0 {
			t.Errorf("counter of the key alone: got %d, want 0", got)
		}
	}
	if c.used.Load() != 1 || c.Estimate(h[0], h[1]) != 0 {
		t.Errorf("got %d counters counted and a count of %d, want 1 and 0", c.used.Load(), c.Estimate(h[0], h[1]))
	}
}

// Every worker adds and removes its own keys again, so nothing may be left: a
// removal that took too much or too little, or gave back wrongly, shows.
func TestWorkersRemoveWhatTheyAdded(t *testing.T) {
	const workers, perWorker = 4, 200
	keys := keysOf(28, workers*perWorker)
	c := NewCounters(16_384, 5, Plain)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			mine := keys[w*perWorker : (w+1)*perWorker]
			for range 5 {
				for _, h := range mine {
					c.Add(h[0], h[1])
				}
				for i, h := range mine {
					if was, err := c.Remove(h[0], h[1]); !was || err != nil {
						t.Errorf("remove of added key %d: got %v and error %v, want true", i, was, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if n, used := c.above0(), c.used.Load(); n != 0 || used != 0 {
		t.Errorf("after removing all: got %d counters above 0, %d counted, want none", n, used)
	}
}

// A key two of whose probes fall on one counter was not added where that
// counter is 1: Remove finds out half way, as it does when it loses a race, and
// must give back what it took.
func TestARemovalThatFailsHalfWayLeavesNoTrace(t *testing.T) {
	tried := 0
	for _, h := range keysOf(29, 200) {
		c := NewCounters(64, 8, Plain)
		probes, raised := bloom.NewProbes(h[0], h[1], c.m), int64(0)
		for range c.k {
			if cell := probes.Next(); c.value(cell) == 0 {
				c.raise(cell, counterMax)
				raised++
			}
		}
		if raised == int64(c.k) {
			continue // all probes differ
		}
		tried++
		c.used.Store(raised)
		if taken(t, c, h) {
			t.Fatalf("key %x: got removed, want refused", h)
		}
		if n, counted := c.above0(), c.used.Load(); n != raised || counted != raised {
			t.Fatalf("key %x: got %d counters above 0, %d counted, want the %d of before", h, n, counted, raised)
		}
	}
	if tried < 20 {
		t.Errorf("only %d keys had two probes on one counter", tried)
	}
}

func TestOnlyWhatWasTakenIsGivenBack(t *testing.T) {
	c := NewCounters(1024, 5, Plain)
	h := keysOf(30, 1)[0]
	c.giveBack(h[0], h[1], 0b10010)
	sum := 0
	for i := range c.m {
		sum += c.value(i)
	}
	if sum != 2 || c.used.Load() != 2 {
		t.Errorf("got a sum of %d and %d in use, want the 2 counters named", sum, c.used.Load())
	}
}
