package sliding

import (
	"errors"
	"math"
	"math/rand/v2"
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

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(key*2*0x9e3779b97f4a7c15 + 1), mix((key*2 + 1) * 0x9e3779b97f4a7c15)
}

func (f *Filter) seen(key uint64) bool { return f.Seen(hash(key)) }
func (f *Filter) has(key uint64) bool  { return f.Has(hash(key)) }

func TestSecondSightingIsSeen(t *testing.T) {
	f := newFilter(t, 2, 1000, 0.001)
	if f.has(1) || f.seen(1) {
		t.Error("first sighting: got seen, want not")
	}
	if !f.has(1) || !f.seen(1) {
		t.Error("second sighting: got not seen, want seen")
	}
	for range 2 {
		if f.has(2) {
			t.Error("Has recorded a sighting, or found one")
		}
	}
}

// The model is a map of last sightings. Between (G-1)T and GT either answer is
// right; the error rate is set so low that no false positive is expected.
func TestSightingsLiveAsLongAsTheModelSays(t *testing.T) {
	const period, keys, steps = time.Minute, 400, 20_000
	f := func(generations int) {
		t.Helper()
		filter := newFilter(t, generations, keys, 1e-12)
		random := rand.New(rand.NewPCG(7, uint64(generations)))
		last := map[uint64]time.Time{}
		now, next := start, start.Add(period)
		remembered, forgotten := 0, 0
		for range steps {
			now = now.Add(time.Duration(random.Int64N(int64(2 * time.Second))))
			for !now.Before(next) {
				filter.Rotate(next, bloom.CauseTime)
				next = next.Add(period)
			}
			// The square makes some keys frequent and others rare.
			key := uint64(random.Float64() * random.Float64() * keys)
			at, known := last[key]
			age := now.Sub(at)
			got := filter.has(key)
			if random.IntN(4) > 0 {
				if again := filter.seen(key); again != got {
					t.Fatalf("key %d: Seen says %v, Has %v", key, again, got)
				}
				last[key] = now
			}
			switch {
			case known && age <= time.Duration(generations-1)*period:
				remembered++
				if !got {
					t.Fatalf("G=%d key %d sighted %v ago: got forgotten, want remembered", generations, key, age)
				}
			case !known || age > time.Duration(generations)*period:
				forgotten++
				if got {
					t.Fatalf("G=%d key %d sighted %v ago (known %v): got seen, want not", generations, key, age, known)
				}
			}
		}
		if remembered < 1000 || forgotten < 200 {
			t.Errorf("G=%d: only %d sightings within and %d beyond the window tried", generations, remembered, forgotten)
		}
	}
	f(2)
	f(3)
	f(4)
}

func TestASightingIsRenewedInTheNewestGeneration(t *testing.T) {
	f := newFilter(t, 2, 1000, 1e-6)
	f.seen(1)
	for range 10 { // far longer than a window, sighted once in each generation
		f.Rotate(start, bloom.CauseTime)
		if !f.seen(1) {
			t.Fatal("key sighted in the generation before: got forgotten, want seen")
		}
	}
	f.Rotate(start, bloom.CauseTime)
	f.has(1) // asking renews nothing
	f.Rotate(start, bloom.CauseTime)
	if f.has(1) {
		t.Error("key not sighted for a whole window: got seen, want forgotten")
	}
}

// fillWindow records capacity distinct keys in every generation.
func fillWindow(f *Filter, generations, capacity int) {
	key := uint64(0)
	for g := range generations {
		if g > 0 {
			f.Rotate(start, bloom.CauseFull)
		}
		for range capacity {
			f.seen(key)
			key++
		}
	}
}

// measured is the share of n unseen keys that f reports.
func measured(f *Filter, n int) float64 {
	wrong := 0
	for key := range n {
		if f.has(1<<40 + uint64(key)) {
			wrong++
		}
	}
	return float64(wrong) / float64(n)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, tolerance*100)
	}
}

func TestFullWindowErrsAtTheConfiguredRate(t *testing.T) {
	const capacity, queries = 20_000, 200_000
	f := func(generations int, rate float64) {
		t.Helper()
		filter := newFilter(t, generations, capacity, rate)
		fillWindow(filter, generations, capacity)
		got := measured(filter, queries)
		near(t, "measured rate of the full window", got, rate, 0.1)
		near(t, "measured rate against Stats", got, filter.Stats(start).FalsePositiveRatio, 0.1)
	}
	f(2, 0.01)
	f(3, 0.01)
	f(4, 0.05)
}

// At 10 bits a key and 7 probes two generations report 1.6 % of unseen keys
// when each is asked by itself, and 13.8 % when the union of their bits is.
func TestGenerationsAreAskedEachByItself(t *testing.T) {
	const capacity, queries = 20_000, 200_000
	each := bloom.FalsePositiveRate(10*capacity, 7, capacity)
	window := bloom.WindowRate(each, each)
	f := newFilter(t, 2, capacity, window)
	fillWindow(f, 2, capacity)
	near(t, "each by itself", measured(f, queries), 0.0163, 0.1)

	// All keys in one array of the same size set the bits of the union.
	union := bloom.NewFilter(10*capacity, 7)
	for key := range uint64(2 * capacity) {
		union.Add(hash(key))
	}
	near(t, "the union of the bits", bloom.RateFromFill(union.Fill(), 7), 0.138, 0.02)
}

func TestFullAtCapacityDistinctKeys(t *testing.T) {
	const capacity = 500
	f := newFilter(t, 2, capacity, 1e-9)
	for key := range uint64(capacity - 1) {
		f.seen(key)
		f.seen(key) // a repeated key takes no room
	}
	if f.Full() {
		t.Fatal("one key below capacity: got full, want not")
	}
	f.seen(capacity)
	if !f.Full() {
		t.Fatal("at capacity: got not full, want full")
	}
	select {
	case <-f.FullC():
	default:
		t.Error("at capacity: got no signal, want one")
	}
	f.Rotate(start, bloom.CauseFull)
	if f.Full() {
		t.Error("after the rotation: got full, want an empty newest generation")
	}
}

func TestStatsDescribeTheWindow(t *testing.T) {
	const capacity = 10_000
	f := newFilter(t, 2, capacity, 0.01)
	fillWindow(f, 2, capacity/2)
	f.Rotate(start.Add(time.Minute), bloom.CauseTime)
	s := f.Stats(start.Add(3 * time.Minute))
	if len(s.Generations) != 2 || s.Generations[0].Keys != 0 || s.Generations[0].FillRatio != 0 {
		t.Errorf("generations: got %+v, want an empty one and a half full one", s.Generations)
	}
	near(t, "keys", float64(s.Keys), capacity/2, 0.01)
	// Half the keys of a full generation, whose bits are half set: 1-1/sqrt(2).
	near(t, "fill of the older", s.Generations[1].FillRatio, 1-math.Sqrt2/2, 0.05)
	if s.Window != 3*time.Minute || s.Rotations != (bloom.Rotations{Time: 1, Full: 1}) {
		t.Errorf("got window %v, rotations %+v, want 3m and one of each", s.Window, s.Rotations)
	}
	if s.Bytes != f.Bytes() || s.Bytes < 2*capacity*11/8 || s.Bytes > 2*capacity*12/8 {
		t.Errorf("bytes: got %d and %d, want both between 11 and 12 bits a key", s.Bytes, f.Bytes())
	}
}

func TestNewNamesTheBadOption(t *testing.T) {
	_, err := New(bloom.Options{Generations: 2, Capacity: 10}, start)
	var option *bloom.OptionError
	if !errors.As(err, &option) || option.Option != "false_positive_rate" {
		t.Errorf("got error %v, want an OptionError for false_positive_rate", err)
	}
}

func TestSeenDoesNotAllocate(t *testing.T) {
	f := newFilter(t, 4, 10, 0.01) // far over capacity: the signal is tried too
	key := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { key++; f.seen(key); f.seen(key); f.has(key) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
