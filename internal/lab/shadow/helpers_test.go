package shadow

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
)

var (
	always    = admission.Rule{Policy: admission.Always}
	secondHit = admission.Rule{Policy: admission.SecondHit}
	moreThan2 = admission.Rule{Policy: admission.Counting, MoreThan: 2}
	never     = admission.Rule{Policy: admission.Never}

	unused admission.Rule // rule of the live cache, where no test asks for it
)

// begin is when every Shadow of the tests begins.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// options follow every key and have windows of so many keys and a minute.
func options(keys int64, rules ...admission.Rule) Options {
	window := admission.FilterOptions{
		Options:     bloom.Options{Generations: 2, Capacity: keys, FalsePositiveRate: 0.001},
		RotateEvery: time.Minute,
	}
	return Options{
		Rules: rules, CapacityBytes: 1 << 20, MaxObjectBytes: 1 << 18,
		SecondHit: window, Counting: window, Share: 1,
	}
}

func newShadow(t testing.TB, o Options) *Shadow {
	t.Helper()
	s, err := New(o, begin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	return mix(key + 0x9e3779b97f4a7c15), mix(key ^ 0x6a09e667f3bcc909)
}

// zipf returns requests for keys below n by Zipf's law with this exponent.
func zipf(seed uint64, n, requests int, exponent float64) []uint32 {
	weights := make([]float64, n)
	sum := 0.0
	for i := range weights {
		sum += math.Pow(float64(i+1), -exponent)
		weights[i] = sum
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	out := make([]uint32, requests)
	for i := range out {
		out[i] = uint32(rank(weights, rng.Float64()*sum))
	}
	return out
}

// rank returns the first index whose running sum is above x.
func rank(sums []float64, x float64) int {
	lo, hi := 0, len(sums)-1
	for lo < hi {
		if mid := (lo + hi) / 2; sums[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
