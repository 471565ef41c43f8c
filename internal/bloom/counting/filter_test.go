package counting

import (
	"math/rand/v2"
	"sync"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
)

func TestAddCountsUpToMaxAGeneration(t *testing.T) {
	layouts(t, 1000, 0.001, func(t *testing.T, f counter, generations int) {
		for g := range generations {
			for n := 1; n <= 20; n++ {
				if got, want := f.Add(bloomtest.Hash(1)), g*Max+min(n, Max); got != want {
					t.Fatalf("sighting %d of generation %d: got %d, want %d", n, g, got, want)
				}
			}
			if g < generations-1 {
				f.Rotate(start, bloom.CauseTime)
			}
		}
		f.Rotate(start, bloom.CauseTime)
		if got, want := f.Estimate(bloomtest.Hash(1)), (generations-1)*Max; got != want {
			t.Errorf("after one more rotation: got %d, want %d", got, want)
		}
		if got := f.Estimate(bloomtest.Hash(2)); got != 0 {
			t.Errorf("key never sighted: got %d, want 0", got)
		}
	})
}

// model counts for each key what was added, by generation.
type model struct {
	generations []map[uint64]int // newest first
}

func newModel(n int) *model {
	m := &model{}
	for range n {
		m.rotate(n)
	}
	return m
}

func (m *model) rotate(n int) {
	m.generations = append([]map[uint64]int{{}}, m.generations...)
	m.generations = m.generations[:min(len(m.generations), n)]
}

// estimate is the least a filter may say: Max is where a generation stops.
func (m *model) estimate(key uint64) (n int) {
	for _, g := range m.generations {
		n += min(g[key], Max)
	}
	return n
}

func TestEstimatesFollowTheModel(t *testing.T) {
	const keys, steps = 500, 10_000
	layouts(t, keys, 5e-6, func(t *testing.T, filter counter, generations int) {
		want := newModel(generations)
		random := rand.New(rand.NewPCG(11, uint64(generations)))
		for step := range steps {
			if step%800 == 799 {
				filter.Rotate(start, bloom.CauseTime)
				want.rotate(generations)
			}
			key := uint64(random.Float64() * random.Float64() * keys)
			want.generations[0][key]++
			if got := filter.Add(bloomtest.Hash(key)); got != want.estimate(key) {
				t.Fatalf("step %d key %d: got %d, want %d", step, key, got, want.estimate(key))
			}
			other := random.Uint64N(keys)
			if got := filter.Estimate(bloomtest.Hash(other)); got != want.estimate(other) {
				t.Fatalf("step %d key %d: got an estimate of %d, want %d", step, other, got, want.estimate(other))
			}
		}
	})
}

func TestRemoveTakesOneSightingBack(t *testing.T) {
	f := newTestTextbook(t, 2, 1000, 0.001)
	if f.Remove(bloomtest.Hash(1)) {
		t.Error("remove of a key never added: got true, want false")
	}
	f.Add(bloomtest.Hash(1))
	f.Add(bloomtest.Hash(1))
	f.Rotate(start, bloom.CauseTime)
	f.Add(bloomtest.Hash(1))
	for want := 2; want >= 0; want-- { // the newest first, then the older ones
		if !f.Remove(bloomtest.Hash(1)) {
			t.Fatalf("remove down to %d: got false, want true", want)
		}
		if got := f.Estimate(bloomtest.Hash(1)); got != want {
			t.Fatalf("after a remove: got %d, want %d", got, want)
		}
	}
	if f.Remove(bloomtest.Hash(1)) {
		t.Error("remove of what is gone: got true, want false")
	}
	if s := f.Stats(start); s.Keys != 0 || s.Generations[0].FillRatio != 0 {
		t.Errorf("after removing all: got %+v, want nothing held", s)
	}
}

func TestACounterAtMaxIsNeverLowered(t *testing.T) {
	f := newTestTextbook(t, 2, 1000, 0.001)
	for range Max {
		f.Add(bloomtest.Hash(1))
	}
	for range 3 {
		if !f.Remove(bloomtest.Hash(1)) || f.Estimate(bloomtest.Hash(1)) != Max {
			t.Fatalf("remove at Max: got an estimate of %d, want true and %d", f.Estimate(bloomtest.Hash(1)), Max)
		}
	}
	f.Rotate(start, bloom.CauseTime)
	f.Rotate(start, bloom.CauseTime)
	if got := f.Estimate(bloomtest.Hash(1)); got != 0 {
		t.Errorf("after a whole window: got %d, want 0", got)
	}
}

func TestSimultaneousAddsOfOneKeyAreAllCounted(t *testing.T) {
	layouts(t, 1000, 0.001, func(t *testing.T, f counter, _ int) {
		for key, adds := range []int{2, 5, 12, 15, 40} {
			var wg sync.WaitGroup
			for range adds {
				wg.Go(func() { f.Add(bloomtest.Hash(uint64(key))) })
			}
			wg.Wait()
			if got, want := f.Estimate(bloomtest.Hash(uint64(key))), min(adds, Max); got != want {
				t.Errorf("%d simultaneous adds: got an estimate of %d, want %d", adds, got, want)
			}
		}
		if got := f.Stats(start).Keys; got < 5 {
			t.Errorf("keys: got %d, want 5 or more where simultaneous adds count one twice", got)
		}
	})
}

// The production layout counts a key once, however many add it first.
func TestARacedKeyIsCountedOnce(t *testing.T) {
	f := newTestFilter(t, 2, 10_000, 1e-5)
	const keys = 500
	for key := range uint64(keys) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { f.Add(bloomtest.Hash(key)) })
		}
		wg.Wait()
	}
	if got := f.Stats(start).Keys; got != keys {
		t.Errorf("got %d keys, want %d", got, keys)
	}
}
