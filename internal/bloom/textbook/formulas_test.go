package textbook

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/bloom"
)

func TestExpectedFillIsTheMean(t *testing.T) {
	const m, k, n, filters = 1000, 5, 200, 200
	sum := 0.0
	for seed := range uint64(filters) {
		f := NewFilter(m, k)
		for _, h := range hashes(seed, n) {
			f.Add(h[0], h[1])
		}
		sum += f.Fill() / filters
	}
	// The deviation of one fill is 1.2 %; of the mean of 200, 0.1 %.
	near(t, "mean fill", sum, ExpectedFill(m, k, n), 0.004)
}

// A real window is asked at points of its cycle and errs as often as the
// formulas say.
func TestWindowErrsAsItsFormulasSay(t *testing.T) {
	const n, g, queries, steps = 20_000, 2, 100_000, 10
	m, k := bloom.Size(n, 0.01)
	rate := func(n uint64) float64 { return bloom.FalsePositiveRate(m, k, n) }
	older, newest := NewFilter(m, k), NewFilter(m, k)
	random := rand.New(rand.NewPCG(11, 0))
	for range n {
		older.Add(random.Uint64(), random.Uint64())
	}
	sum := 0.0
	for step := range steps + 1 {
		wrong := 0
		for range queries {
			if hi, lo := random.Uint64(), random.Uint64(); older.Has(hi, lo) || newest.Has(hi, lo) {
				wrong++
			}
		}
		got := float64(wrong) / queries
		// A thousand wrong answers have a deviation of 3 %; four of them are allowed.
		near(t, fmt.Sprintf("%d of %d tenths", step, steps), got, bloom.CycleRate(rate, n, uint64(step*n/steps), g), 0.13)
		switch step {
		case 0, steps:
			sum += got / 2
		default:
			sum += got
		}
		for range n / steps {
			newest.Add(random.Uint64(), random.Uint64())
		}
	}
	// Eleven points state the mean of a convex curve a little too high.
	near(t, "mean", sum/steps, bloom.MeanRate(rate, n, g), 0.05)
}

func TestExactRateTendsToTheLimit(t *testing.T) {
	for _, k := range []int{1, 7, 30} {
		for _, m := range []uint64{1000, 100_000, 10_000_000} {
			n := m / 10
			exact := ExactRate(m, k, n)
			direct := math.Pow(1-math.Pow(1-1/float64(m), float64(k)*float64(n)), float64(k))
			near(t, "exact, written out", exact, direct, 1e-7)
			near(t, "limit", bloom.FalsePositiveRate(m, k, n), exact, 2*float64(k)/float64(m))
		}
	}
	if got := ExactRate(1, 3, 0) + ExpectedFill(1, 3, 0); got != 0 {
		t.Errorf("nothing added: got %v, want 0", got)
	}
	if got := ExpectedFill(1, 3, 1); got != 1 {
		t.Errorf("one cell, one key: got a fill of %v, want 1", got)
	}
}
