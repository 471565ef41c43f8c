package sliding

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

// layouts calls test for every layout: Filter and that of the textbook, of 2, 3 and 4
// generations.
func layouts(t *testing.T, capacity int64, rate float64, test func(t *testing.T, f sighter, generations int)) {
	t.Helper()
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		name := string(rune('0' + generations))
		t.Run("production "+name, func(t *testing.T) { test(t, newTestFilter(t, generations, capacity, rate), generations) })
		t.Run("textbook "+name, func(t *testing.T) { test(t, newTestTextbook(t, generations, capacity, rate), generations) })
	}
}

func TestSecondSightingIsSeen(t *testing.T) {
	layouts(t, 1000, 0.001, func(t *testing.T, f sighter, _ int) {
		if f.Has(hash(1)) || f.Seen(hash(1)) {
			t.Error("first sighting: got seen, want not")
		}
		if !f.Has(hash(1)) || !f.Seen(hash(1)) {
			t.Error("second sighting: got not seen, want seen")
		}
		for range 2 {
			if f.Has(hash(2)) {
				t.Error("Has recorded a sighting, or found one")
			}
		}
	})
}

// The model is a map of last sightings. Between (G-1)T and GT either answer is
// right; the error rate is set so low that no false positive is expected.
func TestSightingsLiveAsLongAsTheModelSays(t *testing.T) {
	const period, keys, steps = time.Minute, 400, 20_000
	layouts(t, keys, 1e-10, func(t *testing.T, filter sighter, generations int) {
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
			got := filter.Has(hash(key))
			if random.IntN(4) > 0 {
				if again := filter.Seen(hash(key)); again != got {
					t.Fatalf("key %d: Seen says %v, Has %v", key, again, got)
				}
				last[key] = now
			}
			switch {
			case known && age <= time.Duration(generations-1)*period:
				remembered++
				if !got {
					t.Fatalf("key %d sighted %v ago: got forgotten, want remembered", key, age)
				}
			case !known || age > time.Duration(generations)*period:
				forgotten++
				if got {
					t.Fatalf("key %d sighted %v ago (known %v): got seen, want not", key, age, known)
				}
			}
		}
		if remembered < 1000 || forgotten < 200 {
			t.Errorf("only %d sightings within and %d beyond the window tried", remembered, forgotten)
		}
	})
}

func TestASightingIsRenewedInTheNewestGeneration(t *testing.T) {
	layouts(t, 1000, 1e-6, func(t *testing.T, f sighter, generations int) {
		f.Seen(hash(1))
		for range 10 { // far longer than a window, sighted once in each generation
			f.Rotate(start, bloom.CauseTime)
			if !f.Seen(hash(1)) {
				t.Fatal("key sighted in the generation before: got forgotten, want seen")
			}
		}
		for range generations {
			f.Rotate(start, bloom.CauseTime)
			f.Has(hash(1)) // asking renews nothing
		}
		if f.Has(hash(1)) {
			t.Error("key not sighted for a whole window: got seen, want forgotten")
		}
	})
}

// Both layouts remember the same sightings: they may differ in false positives
// alone.
func TestProductionAndTextbookAgree(t *testing.T) {
	const capacity = 2000
	for generations := 2; generations <= 4; generations++ {
		production := newTestFilter(t, generations, capacity, 1e-8)
		textbook := newTestTextbook(t, generations, capacity, 1e-8)
		random := rand.New(rand.NewPCG(63, 0))
		seen := 0
		for step := range 40_000 {
			key := uint64(random.ExpFloat64() * 5000)
			got, want := production.seen(key), textbook.Seen(hash(key))
			if got != want {
				t.Fatalf("%d generations, sighting %d, key %d: got %v, textbook says %v", generations, step, key, got, want)
			}
			if want {
				seen++
			}
			if a, b := production.Full(), textbook.Full(); a != b {
				t.Fatalf("%d generations, sighting %d: got full %v, textbook says %v", generations, step, a, b)
			}
			if production.Full() {
				production.Rotate(start, bloom.CauseFull)
				textbook.Rotate(start, bloom.CauseFull)
			}
		}
		if rotations := production.Stats(start).Rotations.Full; rotations < 5 || seen < 5000 {
			t.Errorf("%d generations: only %d rotations and %d seen were tried", generations, rotations, seen)
		}
	}
}

func TestFullAtCapacityDistinctKeys(t *testing.T) {
	const capacity = 500
	f := newTestFilter(t, 2, capacity, 1e-9)
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

func TestALargeFilterIsFullWithinAThousandthOfItsCapacity(t *testing.T) {
	const capacity = 200_000
	for generations := 2; generations <= 3; generations++ {
		f := newTestFilter(t, generations, capacity, 0.01)
		key := uint64(0)
		for len(f.FullC()) == 0 {
			f.seen(key)
			key++
		}
		// New keys found by mistake are not counted: a thousandth or so of them.
		near(t, "keys sighted until it is full", float64(key), capacity, 0.003)
		if !f.Full() {
			t.Error("when it says so: got not full, want full")
		}
	}
}

func TestStatsDescribeTheWindow(t *testing.T) {
	const capacity = 10_000
	f := newTestFilter(t, 2, capacity, 0.01)
	fillWindow(f, 2, capacity/2)
	f.Rotate(start.Add(time.Minute), bloom.CauseTime)
	s := f.Stats(start.Add(3 * time.Minute))
	if len(s.Generations) != 2 || s.Generations[0].Keys != 0 || s.Generations[0].FillRatio != 0 {
		t.Errorf("generations: got %+v, want an empty one and a half full one", s.Generations)
	}
	near(t, "keys", float64(s.Keys), capacity/2, 0.01)
	if s.Window != 3*time.Minute || s.Rotations != (bloom.Rotations{Time: 1, Full: 1}) {
		t.Errorf("got window %v, rotations %+v, want 3m and one of each", s.Window, s.Rotations)
	}
	if s.Bytes != f.Bytes() || s.Bytes < 2*capacity*12/8 || s.Bytes > 2*capacity*13/8 {
		t.Errorf("bytes: got %d and %d, want both between 12 and 13 bits a key", s.Bytes, f.Bytes())
	}
	if !f.Start().Equal(start.Add(time.Minute)) {
		t.Errorf("start: got %v, want that of the last rotation", f.Start())
	}
	if oldest, newest := f.Held(); oldest != 3 || newest != 4 {
		t.Errorf("held: got generations %d to %d, want 3 to 4", oldest, newest)
	}
}

func TestNewNamesTheBadOption(t *testing.T) {
	f := func(o bloom.Options, want string) {
		t.Helper()
		_, production := New(o, start)
		_, textbook := textbook.NewSliding(o, start)
		for _, err := range []error{production, textbook} {
			var option *bloom.OptionError
			if !errors.As(err, &option) || option.Option != want {
				t.Errorf("%+v: got error %v, want an OptionError for %s", o, err, want)
			}
		}
	}
	f(options(2, 10, 0), "false_positive_rate")
	f(options(9, 10, 0.1), "generations")
	f(options(2, 1<<60, 0.1), "capacity")
	if _, err := New(options(2, 10, 1e-14), start); err == nil {
		t.Error("a rate that no split block can have: got a filter, want an error")
	}
}

func TestSeenDoesNotAllocate(t *testing.T) {
	layouts(t, 10, 0.01, func(t *testing.T, f sighter, _ int) { // far over capacity: the signal is tried too
		key := uint64(0)
		if n := testing.AllocsPerRun(1000, func() { key++; f.Seen(hash(key)); f.Seen(hash(key)); f.Has(hash(key)) }); n != 0 {
			t.Errorf("got %v allocations, want 0", n)
		}
	})
}
