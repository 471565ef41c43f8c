package counting

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newFilter(t testing.TB, generations int, capacity int64, rate float64) *Filter {
	t.Helper()
	f, err := New(bloom.Options{Generations: generations, Capacity: capacity, FalsePositiveRate: rate}, start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *Filter) add(key uint64) int      { return f.Add(hash(key)) }
func (f *Filter) estimate(key uint64) int { return f.Estimate(hash(key)) }
func (f *Filter) remove(key uint64) bool  { return f.Remove(hash(key)) }

func TestAddCountsUpToMaxAGeneration(t *testing.T) {
	f := newFilter(t, 2, 1000, 0.001)
	for n := 1; n <= 20; n++ {
		if got, want := f.add(1), min(n, Max); got != want {
			t.Fatalf("sighting %d: got %d, want %d", n, got, want)
		}
	}
	f.Rotate(start, bloom.CauseTime)
	for n := 1; n <= 20; n++ {
		if got, want := f.add(1), Max+min(n, Max); got != want {
			t.Fatalf("sighting %d of the second generation: got %d, want %d", n, got, want)
		}
	}
	if got := f.estimate(2); got != 0 {
		t.Errorf("key never sighted: got %d, want 0", got)
	}
}

// model counts for each key what was added and not removed, by generation.
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
	const keys, steps = 500, 30_000
	f := func(generations int) {
		t.Helper()
		filter, want := newFilter(t, generations, keys, 1e-9), newModel(generations)
		random := rand.New(rand.NewPCG(11, uint64(generations)))
		for step := range steps {
			if step%2500 == 2499 {
				filter.Rotate(start, bloom.CauseTime)
				want.rotate(generations)
			}
			key := uint64(random.Float64() * random.Float64() * keys)
			want.generations[0][key]++
			if got := filter.add(key); got != want.estimate(key) {
				t.Fatalf("G=%d step %d key %d: got %d, want %d", generations, step, key, got, want.estimate(key))
			}
			other := random.Uint64N(keys)
			if got := filter.estimate(other); got != want.estimate(other) {
				t.Fatalf("G=%d step %d key %d: got an estimate of %d, want %d", generations, step, other, got, want.estimate(other))
			}
		}
	}
	f(2)
	f(3)
	f(4)
}

// In a crowded generation estimates err, upwards only, and at the stated rate.
func TestEstimatesOfACrowdedFilterAreNeverTooLow(t *testing.T) {
	const capacity, rate = 20_000, 0.05
	f := newFilter(t, 2, capacity, rate)
	truth := map[uint64]int{}
	random := rand.New(rand.NewPCG(12, 0))
	for g := range 2 {
		if g > 0 {
			f.Rotate(start, bloom.CauseFull)
		}
		for i := range uint64(capacity) {
			key := uint64(g)*capacity + i
			for range 1 + random.IntN(5) {
				f.add(key)
				truth[key]++
			}
		}
	}
	wrong := 0
	for key, n := range truth {
		got := f.estimate(key)
		if got < n {
			t.Fatalf("key %d: got an estimate of %d, want at least the %d added", key, got, n)
		}
		if got > n {
			wrong++
		}
	}
	// A key errs where the other generation counts it, or others share all its
	// counters in its own: together as often as an unseen key is counted.
	near(t, "share of estimates too high", float64(wrong)/float64(len(truth)), rate, 0.1)
}

func TestUnseenKeysAreCountedAtTheConfiguredRate(t *testing.T) {
	const capacity, queries = 20_000, 150_000
	f := func(generations int, rate float64) {
		t.Helper()
		filter := newFilter(t, generations, capacity, rate)
		for g := range generations {
			if g > 0 {
				filter.Rotate(start, bloom.CauseFull)
			}
			for i := range uint64(capacity) {
				filter.add(uint64(g)*capacity + i)
			}
		}
		wrong := 0
		for key := range uint64(queries) {
			if filter.estimate(1<<40+key) > 0 {
				wrong++
			}
		}
		near(t, "measured rate of the full window", float64(wrong)/queries, rate, 0.1)
		near(t, "rate in Stats", filter.Stats(start).FalsePositiveRatio, rate, 0.1)
	}
	f(2, 0.01)
	f(4, 0.05)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, tolerance*100)
	}
}

func TestRemoveTakesOneSightingBack(t *testing.T) {
	f := newFilter(t, 2, 1000, 0.001)
	if f.remove(1) {
		t.Error("remove of a key never added: got true, want false")
	}
	f.add(1)
	f.add(1)
	f.Rotate(start, bloom.CauseTime)
	f.add(1)
	for want := 2; want >= 0; want-- { // the newest first, then the older ones
		if !f.remove(1) {
			t.Fatalf("remove down to %d: got false, want true", want)
		}
		if got := f.estimate(1); got != want {
			t.Fatalf("after a remove: got %d, want %d", got, want)
		}
	}
	if f.remove(1) {
		t.Error("remove of what is gone: got true, want false")
	}
	if s := f.Stats(start); s.Keys != 0 || s.Generations[0].FillRatio != 0 {
		t.Errorf("after removing all: got %+v, want nothing held", s)
	}
}

// Random adds and removals of one crowded generation: no estimate may fall
// below the truth, as it would if a removal took what an add had not given.
func TestRemovesNeverMakeOthersTooLow(t *testing.T) {
	const keys = 3000
	f := newFilter(t, 2, keys/4, 0.05) // four times its capacity
	truth := map[uint64]int{}
	random := rand.New(rand.NewPCG(13, 0))
	for range 60_000 {
		key := random.Uint64N(keys)
		if random.IntN(2) == 0 && truth[key] > 0 {
			if !f.remove(key) {
				t.Fatalf("remove of key %d, added %d times: got false, want true", key, truth[key])
			}
			truth[key]--
		} else {
			f.add(key)
			truth[key]++
		}
	}
	for key, n := range truth {
		if got := f.estimate(key); got < min(n, Max) {
			t.Fatalf("key %d: got an estimate of %d, want at least %d", key, got, min(n, Max))
		}
	}
}

func TestACounterAtMaxIsNeverLowered(t *testing.T) {
	f := newFilter(t, 2, 1000, 0.001)
	for range Max {
		f.add(1)
	}
	for range 3 {
		if !f.remove(1) || f.estimate(1) != Max {
			t.Fatalf("remove at Max: got an estimate of %d, want true and %d", f.estimate(1), Max)
		}
	}
	f.Rotate(start, bloom.CauseTime)
	f.Rotate(start, bloom.CauseTime)
	if got := f.estimate(1); got != 0 {
		t.Errorf("after a whole window: got %d, want 0", got)
	}
}

// Where counters are shared, removes may close more than adds have opened.
func TestKeysNeverFallBelowZero(t *testing.T) {
	c := newCells(64, 3)
	random := rand.New(rand.NewPCG(14, 0))
	lowest := int64(0)
	var keys []uint64
	for range 20_000 {
		if len(keys) < 12 || random.IntN(2) == 0 && len(keys) < 40 {
			key := random.Uint64N(200)
			c.add(hash(key))
			keys = append(keys, key)
			continue
		}
		i := random.IntN(len(keys))
		c.remove(hash(keys[i]))
		keys[i] = keys[len(keys)-1]
		keys = keys[:len(keys)-1]
		lowest = min(lowest, c.keys.Load())
		if got := c.Keys(); got < 0 {
			t.Fatalf("got %d keys, want at least 0", got)
		}
	}
	if lowest == 0 {
		t.Error("no more was closed than opened: the test tries nothing")
	}
}

func TestSimultaneousAddsOfOneKeyAreAllCounted(t *testing.T) {
	f := newFilter(t, 2, 1000, 0.001)
	for key, adds := range []int{2, 5, 12, 15, 40} {
		var wg sync.WaitGroup
		for range adds {
			wg.Go(func() { f.add(uint64(key)) })
		}
		wg.Wait()
		if got, want := f.estimate(uint64(key)), min(adds, Max); got != want {
			t.Errorf("%d simultaneous adds: got an estimate of %d, want %d", adds, got, want)
		}
	}
}

func TestNothingIsLeftAfterAWindowOfSilence(t *testing.T) {
	const generations = 3
	f := newFilter(t, generations, 200, 0.01)
	var wg sync.WaitGroup
	for w := range uint64(3) {
		wg.Go(func() {
			for i := range uint64(3000) {
				f.add(w*10_000 + i)
				if i%3 == 0 {
					f.remove(w*10_000 + i)
				}
				if i%50 == 0 {
					f.Rotate(start, bloom.CauseFull)
				}
			}
		})
	}
	wg.Wait()
	for range generations {
		f.Rotate(start, bloom.CauseTime)
	}
	for i, g := range f.Stats(start).Generations {
		if g.FillRatio != 0 || g.Keys != 0 {
			t.Errorf("generation %d: got %+v, want it empty", i, g)
		}
	}
	for _, c := range f.ring.Held() {
		if n, counted := c.inUseNow(), c.used.Load(); n != 0 || counted != 0 {
			t.Errorf("got %d counters above 0, %d counted, want none", n, counted)
		}
	}
}

func TestFullAtCapacityDistinctKeys(t *testing.T) {
	const capacity = 300
	f := newFilter(t, 2, capacity, 1e-9)
	for key := range uint64(capacity - 1) {
		f.add(key)
		f.add(key)
	}
	if f.Full() {
		t.Fatal("one key below capacity: got full, want not")
	}
	f.add(capacity)
	select {
	case <-f.FullC():
	default:
		t.Error("at capacity: got no signal, want one")
	}
	if !f.Full() {
		t.Error("at capacity: got not full, want full")
	}
}

func TestFourTimesTheMemoryOfBits(t *testing.T) {
	const capacity = 100_000
	f := newFilter(t, 2, capacity, 0.01)
	near(t, "bits a key and generation", float64(f.Bytes())*8/2/capacity, 4*11.04, 0.01)
	if got := f.Stats(start).Bytes; got != f.Bytes() {
		t.Errorf("bytes in Stats: got %d, want %d", got, f.Bytes())
	}
}

func TestNewNamesTheBadOption(t *testing.T) {
	_, err := New(bloom.Options{Generations: 9, Capacity: 10, FalsePositiveRate: 0.1}, start)
	var option *bloom.OptionError
	if !errors.As(err, &option) || option.Option != "generations" {
		t.Errorf("got error %v, want an OptionError for generations", err)
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	f := newFilter(t, 4, 10, 0.01)
	key := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { key++; f.add(key); f.add(key); f.remove(key); f.estimate(key) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
