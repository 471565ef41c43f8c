package counting

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

// window is what both filters are to common tests.
type window interface {
	Add(hi, lo uint64) int
	Estimate(hi, lo uint64) int
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	Stats(now time.Time) bloom.Stats
	Bytes() int64
}

// layouts calls test for every layout: Filter and that of the textbook, of 2, 3 and 4
// generations.
func layouts(t *testing.T, capacity int64, rate float64, test func(t *testing.T, f window, generations int)) {
	t.Helper()
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		name := string(rune('0' + generations))
		t.Run("production "+name, func(t *testing.T) { test(t, newTestFilter(t, generations, capacity, rate), generations) })
		t.Run("textbook "+name, func(t *testing.T) { test(t, newTestTextbook(t, generations, capacity, rate), generations) })
	}
}

func TestAddCountsUpToMaxAGeneration(t *testing.T) {
	layouts(t, 1000, 0.001, func(t *testing.T, f window, generations int) {
		for g := range generations {
			for n := 1; n <= 20; n++ {
				if got, want := f.Add(hash(1)), g*Max+min(n, Max); got != want {
					t.Fatalf("sighting %d of generation %d: got %d, want %d", n, g, got, want)
				}
			}
			if g < generations-1 {
				f.Rotate(start, bloom.CauseTime)
			}
		}
		f.Rotate(start, bloom.CauseTime)
		if got, want := f.Estimate(hash(1)), (generations-1)*Max; got != want {
			t.Errorf("after one more rotation: got %d, want %d", got, want)
		}
		if got := f.Estimate(hash(2)); got != 0 {
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
	const keys, steps = 500, 30_000
	layouts(t, keys, 5e-6, func(t *testing.T, filter window, generations int) {
		want := newModel(generations)
		random := rand.New(rand.NewPCG(11, uint64(generations)))
		for step := range steps {
			if step%2500 == 2499 {
				filter.Rotate(start, bloom.CauseTime)
				want.rotate(generations)
			}
			key := uint64(random.Float64() * random.Float64() * keys)
			want.generations[0][key]++
			if got := filter.Add(hash(key)); got != want.estimate(key) {
				t.Fatalf("step %d key %d: got %d, want %d", step, key, got, want.estimate(key))
			}
			other := random.Uint64N(keys)
			if got := filter.Estimate(hash(other)); got != want.estimate(other) {
				t.Fatalf("step %d key %d: got an estimate of %d, want %d", step, other, got, want.estimate(other))
			}
		}
	})
}

// inUse counts the counters above 0, by a scan.
func (g *generation) inUse() (n int) {
	for i := range g.lines {
		for _, v := range g.lines[i].counters() {
			if v > 0 {
				n++
			}
		}
	}
	return n
}

func TestRemoveTakesOneSightingBack(t *testing.T) {
	f := newTestTextbook(t, 2, 1000, 0.001)
	if f.Remove(hash(1)) {
		t.Error("remove of a key never added: got true, want false")
	}
	f.Add(hash(1))
	f.Add(hash(1))
	f.Rotate(start, bloom.CauseTime)
	f.Add(hash(1))
	for want := 2; want >= 0; want-- { // the newest first, then the older ones
		if !f.Remove(hash(1)) {
			t.Fatalf("remove down to %d: got false, want true", want)
		}
		if got := f.Estimate(hash(1)); got != want {
			t.Fatalf("after a remove: got %d, want %d", got, want)
		}
	}
	if f.Remove(hash(1)) {
		t.Error("remove of what is gone: got true, want false")
	}
	if s := f.Stats(start); s.Keys != 0 || s.Generations[0].FillRatio != 0 {
		t.Errorf("after removing all: got %+v, want nothing held", s)
	}
}

func TestACounterAtMaxIsNeverLowered(t *testing.T) {
	f := newTestTextbook(t, 2, 1000, 0.001)
	for range Max {
		f.Add(hash(1))
	}
	for range 3 {
		if !f.Remove(hash(1)) || f.Estimate(hash(1)) != Max {
			t.Fatalf("remove at Max: got an estimate of %d, want true and %d", f.Estimate(hash(1)), Max)
		}
	}
	f.Rotate(start, bloom.CauseTime)
	f.Rotate(start, bloom.CauseTime)
	if got := f.Estimate(hash(1)); got != 0 {
		t.Errorf("after a whole window: got %d, want 0", got)
	}
}

func TestSimultaneousAddsOfOneKeyAreAllCounted(t *testing.T) {
	layouts(t, 1000, 0.001, func(t *testing.T, f window, _ int) {
		for key, adds := range []int{2, 5, 12, 15, 40} {
			var wg sync.WaitGroup
			for range adds {
				wg.Go(func() { f.Add(hash(uint64(key))) })
			}
			wg.Wait()
			if got, want := f.Estimate(hash(uint64(key))), min(adds, Max); got != want {
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
			wg.Go(func() { f.add(key) })
		}
		wg.Wait()
	}
	if got := f.Stats(start).Keys; got != keys {
		t.Errorf("got %d keys, want %d", got, keys)
	}
}

func TestFullAtCapacityDistinctKeys(t *testing.T) {
	const capacity = 300
	layouts(t, capacity, 1e-5, func(t *testing.T, f window, _ int) {
		for key := range uint64(capacity - 1) {
			f.Add(hash(key))
			f.Add(hash(key))
		}
		if f.Full() {
			t.Fatal("one key below capacity: got full, want not")
		}
		f.Add(hash(capacity))
		select {
		case <-f.FullC():
		default:
			t.Error("at capacity: got no signal, want one")
		}
		if !f.Full() {
			t.Error("at capacity: got not full, want full")
		}
	})
}

func TestTheMemoryOfEachLayout(t *testing.T) {
	const capacity = 100_000
	f := func(filter window, bits float64) {
		t.Helper()
		near(t, "bits a key and generation", float64(filter.Bytes())*8/2/capacity, bits, 0.01)
		if got := filter.Stats(start).Bytes; got != filter.Bytes() {
			t.Errorf("bytes in Stats: got %d, want %d", got, filter.Bytes())
		}
	}
	f(newTestTextbook(t, 2, capacity, 0.01), 4*11.11)
	f(newTestFilter(t, 2, capacity, 0.01), 59.57)
}

func TestNewNamesTheBadOption(t *testing.T) {
	f := func(o bloom.Options, want string) {
		t.Helper()
		_, production := New(o, start)
		_, textbook := textbook.NewCounting(o, start)
		for _, err := range []error{production, textbook} {
			var option *bloom.OptionError
			if !errors.As(err, &option) || option.Option != want {
				t.Errorf("%+v: got error %v, want an OptionError for %s", o, err, want)
			}
		}
	}
	f(options(9, 10, 0.1), "generations")
	f(options(2, 10, 1), "false_positive_rate")
	if _, err := New(options(2, 10, 1e-9), start); err == nil {
		t.Error("a rate that no counting line can have: got a filter, want an error")
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	layouts(t, 10, 0.01, func(t *testing.T, f window, _ int) {
		key := uint64(0)
		if n := testing.AllocsPerRun(1000, func() { key++; f.Add(hash(key)); f.Add(hash(key)); f.Estimate(hash(key)) }); n != 0 {
			t.Errorf("got %v allocations, want 0", n)
		}
	})
}
