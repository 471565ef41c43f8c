//go:build !race

// One goroutine and a million queries: the race detector would find nothing and
// take minutes.

package sliding

import (
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

func TestFullWindowErrsAsTheFormulaSaysAndNotAboveTheConfiguredRate(t *testing.T) {
	const capacity, rate, queries = 100_000, 0.01, 1_000_000
	layouts(t, capacity, rate, func(t *testing.T, f sighter, generations int) {
		fillWindow(f, generations, capacity)
		got := measured(f, queries)
		near(t, "measured rate against the formula", got, bloom.DesignRate(rate), 0.1)
		near(t, "measured rate against Stats", got, f.Stats(start).FalsePositiveRatio, 0.1)
		if got > rate {
			t.Errorf("measured rate: got %v, want at most the configured %v", got, rate)
		}
	})
}

// Between empty and half as full again as it ought to be.
func TestStatsFollowTheMeasuredRate(t *testing.T) {
	const capacity, rate, queries = 20_000, 0.1, 150_000
	layouts(t, capacity, rate, func(t *testing.T, f sighter, generations int) {
		key := uint64(0)
		for _, keys := range []int{capacity / 2, capacity, capacity * 3 / 2} {
			for range generations {
				f.Rotate(start, bloom.CauseFull)
				for range keys {
					f.Seen(hash(key))
					key++
				}
			}
			near(t, "expected rate", f.Stats(start).FalsePositiveRatio, measured(f, queries), 0.1)
		}
	})
}

// The fill that Stats works out from the keys is that of the bits.
func TestFillIsThatOfTheBits(t *testing.T) {
	const capacity = 20_000
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, capacity, 0.01)
		fillWindow(f, generations, capacity)
		for i, g := range f.ring.Held() {
			near(t, "fill", f.Stats(start).Generations[i].FillRatio, float64(g.ones())/float64(g.Words()*64), 0.01)
		}
	}
}

// At 10 bits a key and 7 probes two generations report 1.6 % of unseen keys
// when each is asked by itself, and 13.8 % when the union of their bits is.
func TestGenerationsAreAskedEachByItself(t *testing.T) {
	const capacity, queries = 20_000, 200_000
	each := bloom.FalsePositiveRate(10*capacity, 7, capacity)
	window := bloom.WindowRate(each, each) / bloom.DesignRate(1)
	f := newTestTextbook(t, 2, capacity, window)
	fillWindow(f, 2, capacity)
	near(t, "each by itself", measured(f, queries), 0.0163, 0.1)

	// All keys in one array of the same size set the bits of the union.
	union := textbook.NewFilter(10*capacity, 7)
	for key := range uint64(2 * capacity) {
		union.Add(hash(key))
	}
	near(t, "the union of the bits", bloom.RateFromFill(union.Fill(), 7), 0.138, 0.02)
}

// measured is the share of n unseen keys that f reports.
func measured(f sighter, n int) float64 {
	wrong := 0
	for key := range n {
		if f.Has(hash(1<<40 + uint64(key))) {
			wrong++
		}
	}
	return float64(wrong) / float64(n)
}
