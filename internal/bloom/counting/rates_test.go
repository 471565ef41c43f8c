package counting

import (
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
	"edgeproxy/internal/test/testkit"
)

// In a crowded window estimates err, upwards only.
func TestEstimatesOfACrowdedFilterAreNeverTooLow(t *testing.T) {
	testkit.Plain(t, "many queries by one goroutine")
	const capacity, rate = 20_000, 0.05
	layouts(t, capacity, rate, func(t *testing.T, f counter, generations int) {
		truth := map[uint64]int{}
		random := rand.New(rand.NewPCG(12, 0))
		for g := range generations {
			if g > 0 {
				f.Rotate(start, bloom.CauseFull)
			}
			for i := range uint64(capacity) {
				key := uint64(g)*capacity + i
				for range 1 + random.IntN(5) {
					f.Add(bloomtest.Hash(key))
					truth[key]++
				}
			}
		}
		wrong := 0
		for key, n := range truth {
			got := f.Estimate(bloomtest.Hash(key))
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
