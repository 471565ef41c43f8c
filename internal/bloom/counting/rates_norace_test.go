//go:build !race

// One goroutine and a million queries: the race detector would find nothing and
// take minutes.

package counting

import (
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/bloom"
)

func TestUnseenKeysAreCountedAsTheFormulaSaysAndNotAboveTheConfiguredRate(t *testing.T) {
	const capacity, rate, queries = 100_000, 0.01, 1_000_000
	layouts(t, capacity, rate, func(t *testing.T, f window, generations int) {
		fill(f, generations, capacity)
		got := measured(f, queries)
		near(t, "measured rate against the formula", got, bloom.DesignRate(rate), 0.1)
		near(t, "measured rate against Stats", got, f.Stats(start).FalsePositiveRatio, 0.1)
		if got > rate {
			t.Errorf("measured rate: got %v, want at most the configured %v", got, rate)
		}
	})
}

// In a crowded window estimates err, upwards only.
func TestEstimatesOfACrowdedFilterAreNeverTooLow(t *testing.T) {
	const capacity, rate = 20_000, 0.05
	layouts(t, capacity, rate, func(t *testing.T, f window, generations int) {
		truth := map[uint64]int{}
		random := rand.New(rand.NewPCG(12, 0))
		for g := range generations {
			if g > 0 {
				f.Rotate(start, bloom.CauseFull)
			}
			for i := range uint64(capacity) {
				key := uint64(g)*capacity + i
				for range 1 + random.IntN(5) {
					f.Add(hash(key))
					truth[key]++
				}
			}
		}
		wrong := 0
		for key, n := range truth {
			got := f.Estimate(hash(key))
			if got < n {
				t.Fatalf("key %d: got an estimate of %d, want at least the %d added", key, got, n)
			}
			if got > n {
				wrong++
			}
		}
		// A key errs where another generation counts it, or others share all its
		// counters in its own: at most as often as an unseen key is counted.
		// Conservative update raises fewer of them together, plain update as
		// many.
		got := float64(wrong) / float64(len(truth))
		if low, high := 0.4*rate, 1.1*rate; got < low || got > high {
			t.Errorf("share of estimates too high: got %v, want %v to %v", got, low, high)
		}
	})
}

// Between half full and half as full again as it ought to be, with keys that are
// counted several times.
func TestStatsFollowTheMeasuredRate(t *testing.T) {
	const capacity, rate, queries = 20_000, 0.1, 150_000
	layouts(t, capacity, rate, func(t *testing.T, f window, generations int) {
		key := uint64(0)
		for _, keys := range []int{capacity / 2, capacity, capacity * 3 / 2} {
			for range generations {
				f.Rotate(start, bloom.CauseFull)
				for range keys {
					for range key%3 + 1 {
						f.Add(hash(key))
					}
					key++
				}
			}
			near(t, "expected rate", f.Stats(start).FalsePositiveRatio, measured(f, queries), 0.1)
		}
	})
}

func TestFillIsThatOfTheCounters(t *testing.T) {
	const capacity = 20_000
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, capacity, 0.01)
		fill(f, generations, capacity)
		for i, g := range f.ring.Held() {
			near(t, "fill", f.Stats(start).Generations[i].FillRatio, float64(g.inUse())/float64(g.Words()*16), 0.01)
		}
	}
}

// measured is the share of n unseen keys that f counts.
func measured(f window, n int) float64 {
	wrong := 0
	for key := range n {
		if f.Estimate(hash(1<<40+uint64(key))) > 0 {
			wrong++
		}
	}
	return float64(wrong) / float64(n)
}
