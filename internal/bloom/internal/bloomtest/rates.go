package bloomtest

import (
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

// Rates tries the laws about the rates of errors on the family. They take a million queries of one goroutine.
func Rates(t *testing.T, f Family) {
	t.Helper()
	runAll(t, f, rateLaws())
}

func rateLaws() []law {
	return []law{
		{"a full window errs as the formula says, and not above the configured rate", fullWindowRate},
		{"the statistics follow the measured rate", statisticsFollow},
		{"the fill is that of the cells", fillOfCells},
		{"a large filter is full within a thousandth of its capacity", largeIsFull},
	}
}

func fullWindowRate(t *testing.T, f Family) {
	const capacity, rate = 100_000, 0.01
	queries := testkit.Times(1_000_000, 200_000)
	f.layouts(t, capacity, rate, func(t *testing.T, w Window, generations int) {
		Fill(w, generations, capacity)
		got := Measured(w, queries)
		Near(t, "measured rate against the formula", got, bloom.DesignRate(rate), 0.1)
		Near(t, "measured rate against Stats", got, w.Stats(T0()).FalsePositiveRatio, 0.1)
		if got > rate {
			t.Errorf("measured rate: got %v, want at most the configured %v", got, rate)
		}
	})
}

// Between half full and half as full again as it ought to be, with keys that are sighted
// several times.
func statisticsFollow(t *testing.T, f Family) {
	const capacity, rate, queries = 20_000, 0.1, 150_000
	f.layouts(t, capacity, rate, func(t *testing.T, w Window, generations int) {
		key := uint64(0)
		for _, keys := range []int{capacity / 2, capacity, capacity * 3 / 2} {
			for range generations {
				w.Rotate(T0(), bloom.CauseFull)
				for range keys {
					for range key%3 + 1 {
						sight(w, key)
					}
					key++
				}
			}
			Near(t, "expected rate", w.Stats(T0()).FalsePositiveRatio, Measured(w, queries), 0.1)
		}
	})
}

func fillOfCells(t *testing.T, f Family) {
	const capacity = 20_000
	f.generations(t, capacity, 0.01, func(t *testing.T, w Filter, generations int) {
		Fill(w, generations, capacity)
		for i, fill := range w.Fills() {
			Near(t, "fill", w.Stats(T0()).Generations[i].FillRatio, fill, 0.01)
		}
	})
}

func largeIsFull(t *testing.T, f Family) {
	const capacity = 200_000
	f.generations(t, capacity, 0.01, func(t *testing.T, w Filter, _ int) {
		key := uint64(0)
		for len(w.FullC()) == 0 {
			sight(w, key)
			key++
		}
		// New keys found by mistake are not counted: a thousandth or so of them.
		Near(t, "keys sighted until it is full", float64(key), capacity, 0.003)
		if !w.Full() {
			t.Error("when it says so: got not full, want full")
		}
	})
}
