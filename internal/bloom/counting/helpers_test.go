package counting

import (
	"math"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(key*2*0x9e3779b97f4a7c15 + 1), mix((key*2 + 1) * 0x9e3779b97f4a7c15)
}

func options(generations int, capacity int64, rate float64) bloom.Options {
	return bloom.Options{Generations: generations, Capacity: capacity, FalsePositiveRate: rate}
}

func newTestFilter(t testing.TB, generations int, capacity int64, rate float64) *Filter {
	t.Helper()
	f, err := New(options(generations, capacity, rate), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newTestTextbook(t testing.TB, generations int, capacity int64, rate float64) *textbook.Counting {
	t.Helper()
	f, err := textbook.NewCounting(options(generations, capacity, rate), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *Filter) add(key uint64) int      { return f.Add(hash(key)) }
func (f *Filter) estimate(key uint64) int { return f.Estimate(hash(key)) }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, tolerance*100)
	}
}

// fill adds capacity keys to each generation.
func fill(f window, generations, capacity int) {
	key := uint64(0)
	for g := range generations {
		if g > 0 {
			f.Rotate(start, bloom.CauseFull)
		}
		for range capacity {
			f.Add(hash(key))
			key++
		}
	}
}
