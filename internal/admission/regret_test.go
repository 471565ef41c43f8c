package admission

import (
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

func (g *Gate) filled(r Rule, key uint64, heldBack bool) bool {
	hi, lo := hash(key)
	return g.Filled(r, hi, lo, 1000, heldBack)
}

func TestRegretIsAFillAfterOneHeldBack(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)})
	const held, stored = true, false
	key := uint64(0)
	f := func(name string, fills []bool, want ...bool) {
		t.Helper()
		for _, r := range []Rule{secondHit, more4} {
			key++
			for i, heldBack := range fills {
				if got := g.filled(r, key, heldBack); got != want[i] {
					t.Errorf("%s, %v, fill %d: got regret %v, want %v", name, r.Policy, i+1, got, want[i])
				}
			}
		}
	}
	f("asked for once", []bool{held}, false)
	f("second hit", []bool{held, stored}, false, true)
	f("held back again and again", []bool{held, held, held, stored}, false, true, true, true)
	f("stored at once", []bool{stored, stored}, false, false)
	f("stored, evicted, stored again", []bool{held, stored, stored, stored}, false, true, false, false)
	f("held back once more after it was stored", []bool{held, stored, held}, false, true, false)
	f("evicted, held back, stored", []bool{stored, held, stored}, false, false, true)
}

// Each policy has a window, and so a regret, of its own.
func TestRegretBelongsToTheRulesFilter(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)})
	f := func(r Rule, key uint64, heldBack, want bool) {
		t.Helper()
		if got := g.filled(r, key, heldBack); got != want {
			t.Errorf("%v, key %d, held back %v: got regret %v, want %v", r.Policy, key, heldBack, got, want)
		}
	}
	f(secondHit, 1, true, false)
	f(more4, 1, false, false)
	f(secondHit, 1, false, true)
}

func TestWithoutAWindowThereIsNoRegretToMeasure(t *testing.T) {
	f := func(o Options, r Rule) {
		t.Helper()
		g := newGate(t, o)
		for range 3 {
			if g.filled(r, 1, true) || g.filled(r, 1, false) {
				t.Errorf("%v: got regret, want none measured", r.Policy)
			}
		}
	}
	both := Options{SecondHit: section(time.Hour, 10), Counting: section(time.Hour, 10)}
	for _, o := range []Options{{}, both} {
		f(o, Rule{Policy: Never})
		f(o, Rule{Policy: Always})
	}
	f(Options{}, secondHit)
	f(Options{}, more4)
}

func TestRegretIsForgottenWithTheWindow(t *testing.T) {
	inBubble(t, Options{SecondHit: section(30*time.Minute, 1000)}, func(t *testing.T, g *Gate) {
		f := func(after time.Duration, key uint64, heldBack, want bool) {
			t.Helper()
			advance(after)
			if got := g.filled(secondHit, key, heldBack); got != want {
				t.Errorf("key %d: got regret %v, want %v", key, got, want)
			}
		}
		f(0, 1, true, false)
		f(0, 2, true, false)
		f(0, 3, true, false)
		f(59*time.Minute, 1, false, true)
		f(2*time.Minute, 2, false, false)
		f(0, 3, true, false)
		f(40*time.Minute, 3, true, true)  // 101m: held back again, so
		f(40*time.Minute, 3, false, true) // 141m: remembered beyond the first time
		f(time.Minute, 1, false, false)
	})
}

// Nor must it be known for longer, or the next regret would be overlooked.
func TestStoredIsForgottenWithTheWindow(t *testing.T) {
	inBubble(t, Options{SecondHit: section(30*time.Minute, 1000)}, func(t *testing.T, g *Gate) {
		g.filled(secondHit, 1, true)
		g.filled(secondHit, 1, false)
		advance(61 * time.Minute)
		g.filled(secondHit, 1, true)
		if !g.filled(secondHit, 1, false) {
			t.Error("held back and stored again after the window: got no regret, want it")
		}
	})
}

// A key stored after it was held back must be known as such for as long as it is
// known to have been held back, or each eviction would look like a regret.
func TestStoredIsNotForgottenBeforeHeldBack(t *testing.T) {
	inBubble(t, Options{SecondHit: section(30*time.Minute, 1000)}, func(t *testing.T, g *Gate) {
		g.filled(secondHit, 1, true)
		advance(25 * time.Minute)
		g.filled(secondHit, 1, false)
		for range 30 {
			advance(7 * time.Minute)
			if g.filled(secondHit, 1, false) {
				t.Fatalf("fill of an object stored before: got regret, want none")
			}
		}
	})
}

// A random history against exact sets: nothing is regretted or overlooked beyond
// the rates of the filters.
func TestRegretAgreesWithAnExactModel(t *testing.T) {
	const capacity, fills = 20_000, 20_000
	g := newGate(t, Options{SecondHit: &FilterOptions{Options: bloom.Options{Generations: 2, Capacity: capacity, FalsePositiveRate: 0.01}}})
	r := rand.New(rand.NewPCG(3, 4))
	held := map[uint64]bool{} // keys whose fill before was held back
	wrong, overlooked, regrets := 0, 0, 0
	for range fills {
		key := r.Uint64N(8000)
		before, known := held[key]
		heldBack := !known || before && r.IntN(2) == 0 // once stored, for good
		got := g.filled(secondHit, key, heldBack)
		switch {
		case before:
			regrets++
			if !got {
				overlooked++
			}
		case got:
			wrong++
		}
		held[key] = heldBack
	}
	if regrets < fills/10 {
		t.Fatalf("got %d regrets, want more to tell", regrets)
	}
	if limit := int(regretRate * fills); wrong > limit || overlooked > limit {
		t.Errorf("of %d fills and %d regrets: got %d reported wrongly and %d overlooked, want at most %d of each", fills, regrets, wrong, overlooked, limit)
	}
}

func TestFilledDoesNotAllocate(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(0, 1000)})
	key := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		key++
		g.filled(secondHit, key/2, key%2 == 0)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
