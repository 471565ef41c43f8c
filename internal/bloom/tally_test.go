package bloom

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func TestTallyIsExactAtRest(t *testing.T) {
	const workers, each = 4, 5000
	for _, capacity := range []int64{1, 10_000, 200_000, 1 << 40} {
		tally := NewTally(capacity)
		var wg sync.WaitGroup
		for w := range uint64(workers) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(31, w))
				for range each {
					tally.Add(random.Uint64())
				}
			})
		}
		wg.Wait()
		if got := tally.Sum(); got != workers*each {
			t.Errorf("capacity %d: got %d, want %d", capacity, got, workers*each)
		}
		tally.Set(7)
		if got := tally.Sum(); got != 7 {
			t.Errorf("capacity %d: got %d after Set, want 7", capacity, got)
		}
	}
}

// How many keys beyond its capacity a generation takes before anybody looks.
func TestTallyLooksSoonAfterItIsFull(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 0))
	late := func(capacity int64) int64 {
		tally := NewTally(capacity)
		for n := int64(1); ; n++ {
			if tally.Add(random.Uint64()) && tally.Sum() >= capacity {
				return n - capacity
			}
		}
	}
	for _, capacity := range []int64{1, 2, 500, 10_000, 32_767} {
		if got := late(capacity); got != 0 {
			t.Errorf("capacity %d: got noticed %d keys late, want at the very key", capacity, got)
		}
	}
	for _, capacity := range []int64{32_768, 100_000, 1_000_000} {
		if got := late(capacity); got > capacity/1000 {
			t.Errorf("capacity %d: got noticed %d keys late, want at most a thousandth", capacity, got)
		}
	}
}

// A generation that is given keys one by one and counts those it does not know.
func TestOfferedFindsTheKeysThatWereNotCounted(t *testing.T) {
	const blocks = 1000
	rate := func(n uint64) float64 { return BlockRate(blocks, n) }
	counted := 0.0
	tried := 0
	for n := uint64(1); rate(n) < 0.6; n++ {
		counted += 1 - rate(n-1)
		if n%5000 == 0 {
			tried++
			near(t, "keys offered", float64(Offered(int64(counted), rate)), float64(n), 0.001)
		}
	}
	if tried < 10 || counted > 0.9*float64(tried*5000) {
		t.Errorf("only %d sizes were tried, and %v of %d keys counted: the test tries nothing", tried, counted, tried*5000)
	}
	if got := Offered(0, rate); got != 0 {
		t.Errorf("nothing counted: got %d keys, want 0", got)
	}
	full := Offered(1<<40, rate) // far more than such a generation can count
	if full < 1<<40 {
		t.Errorf("a generation that finds everything: got %d keys, want at least those counted", full)
	}
}

func TestTallySpreadsKeysOverCacheLines(t *testing.T) {
	stripes := func(capacity int64) int { return len(NewTally(capacity).stripes) }
	if small, large, huge := stripes(100), stripes(1_000_000), stripes(1<<40); small != 1 || large != maxStripes || huge != maxStripes {
		t.Errorf("got %d, %d and %d stripes, want 1 for few keys and %d for many", small, large, huge, maxStripes)
	}
	tally := NewTally(1_000_000)
	for key := range uint64(maxStripes) {
		tally.Add(key)
	}
	for i := range tally.stripes {
		if got := tally.stripes[i].n.Load(); got != 1 {
			t.Errorf("stripe %d: got %d keys, want 1", i, got)
		}
	}
}
