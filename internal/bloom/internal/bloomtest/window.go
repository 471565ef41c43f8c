package bloomtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

func windowLaws() []law {
	return []law{
		{"a key is known from its first sighting on", secondSighting},
		{"sightings live as long as the model says", lifetime},
		{"a sighting is renewed in the newest generation", renewal},
		{"production and textbook agree", agreement},
		{"the top of lo does not move a key", topOfLo},
		{"both ends of the hashes are reached", ends},
	}
}

func secondSighting(t *testing.T, f Family) {
	f.layouts(t, 1000, 0.001, func(t *testing.T, w Window, _ int) {
		if known(w, 1) || sight(w, 1) {
			t.Error("first sighting: got known, want not")
		}
		if !known(w, 1) || !sight(w, 1) {
			t.Error("second sighting: got not known, want known")
		}
		for range 2 {
			if known(w, 2) {
				t.Error("Count recorded a sighting, or found one")
			}
		}
	})
}

// The model is a map of last sightings. Between (G-1)T and GT either answer is right.
func lifetime(t *testing.T, f Family) {
	const period, keys, steps = time.Minute, 400, 6000
	f.layouts(t, keys, f.Exact, func(t *testing.T, w Window, generations int) {
		random := rand.New(rand.NewPCG(7, uint64(generations)))
		last := map[uint64]time.Time{}
		now, next := T0(), T0().Add(period)
		remembered, forgotten := 0, 0
		for range steps {
			now = now.Add(time.Duration(random.Int64N(int64(2 * time.Second))))
			for !now.Before(next) {
				w.Rotate(next, bloom.CauseTime)
				next = next.Add(period)
			}
			// The square makes some keys frequent and others rare.
			key := uint64(random.Float64() * random.Float64() * keys)
			at, before := last[key]
			age := now.Sub(at)
			got := known(w, key)
			if random.IntN(4) > 0 {
				if again := sight(w, key); again != got {
					t.Fatalf("key %d: Sight says %v, Count %v", key, again, got)
				}
				last[key] = now
			}
			within := before && age <= time.Duration(generations-1)*period
			beyond := !before || age > time.Duration(generations)*period
			if within && !got || beyond && got {
				t.Fatalf("key %d sighted %v ago (%v): got known %v", key, age, before, got)
			}
			remembered, forgotten = remembered+one(within), forgotten+one(beyond)
		}
		if remembered < 1000 || forgotten < 200 {
			t.Errorf("only %d sightings within and %d beyond the window tried", remembered, forgotten)
		}
	})
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func renewal(t *testing.T, f Family) {
	f.layouts(t, 1000, f.Exact, func(t *testing.T, w Window, generations int) {
		sight(w, 1)
		for range 10 { // far longer than a window, sighted once in each generation
			w.Rotate(T0(), bloom.CauseTime)
			if !sight(w, 1) {
				t.Fatal("key sighted in the generation before: got forgotten, want known")
			}
		}
		for range generations {
			w.Rotate(T0(), bloom.CauseTime)
			known(w, 1) // asking renews nothing
		}
		if known(w, 1) {
			t.Error("key not sighted for a whole window: got known, want forgotten")
		}
	})
}

// Both layouts remember the same sightings: they may differ in false positives alone.
func agreement(t *testing.T, f Family) {
	const capacity, sightings = 300, 6000
	f.generations(t, capacity, f.Exact, func(t *testing.T, production Filter, generations int) {
		textbook := f.textbook(t, Options(generations, capacity, f.Exact))
		random := rand.New(rand.NewPCG(63, 0))
		seen := 0
		for step := range sightings {
			key := uint64(random.ExpFloat64() * 5 / 2 * capacity)
			got, want := sight(production, key), sight(textbook, key)
			if got != want {
				t.Fatalf("sighting %d, key %d: got %v, textbook says %v", step, key, got, want)
			}
			seen += one(want)
			if a, b := production.Full(), textbook.Full(); a != b {
				t.Fatalf("sighting %d: got full %v, textbook says %v", step, a, b)
			}
			if production.Full() {
				production.Rotate(T0(), bloom.CauseFull)
				textbook.Rotate(T0(), bloom.CauseFull)
			}
		}
		if rotations := production.Stats(T0()).Rotations.Full; rotations < 5 || seen < sightings/8 {
			t.Errorf("only %d rotations and %d known were tried", rotations, seen)
		}
	})
}

// The upper bits of lo are for samples of keys by their hash.
func topOfLo(t *testing.T, f Family) {
	f.generations(t, 1000, 0.01, func(t *testing.T, w Filter, _ int) {
		const hi, lo = 1 << 60, 0x123456789a
		w.Sight(hi, lo)
		for shift := f.LowBits; shift < 64; shift++ {
			if got := w.Count(hi, lo^1<<shift); got != 1 {
				t.Errorf("bit %d of lo: got a count of %d, want the same place in the filter and 1", shift, got)
			}
		}
	})
}

func ends(t *testing.T, f Family) {
	f.generations(t, 1, 0.5, func(t *testing.T, w Filter, _ int) { // the smallest filter
		w.Sight(1<<64-1, 1<<64-1)
		w.Sight(0, 0)
		if w.Count(1<<64-1, 1<<64-1) == 0 || w.Count(0, 0) == 0 {
			t.Error("got a key at an end of the hashes forgotten, want it known")
		}
	})
}
