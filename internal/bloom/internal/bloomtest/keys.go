package bloomtest

import (
	"math"
	"testing"

	"edgeproxy/internal/bloom"
)

// Hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func Hash(key uint64) (hi, lo uint64) {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(key*2*0x9e3779b97f4a7c15 + 1), mix((key*2 + 1) * 0x9e3779b97f4a7c15)
}

// Fill sights this many distinct keys, from 0 on, in each generation.
func Fill(w Window, generations, keys int) {
	key := uint64(0)
	for g := range generations {
		if g > 0 {
			w.Rotate(T0(), bloom.CauseFull)
		}
		for range keys {
			w.Sight(Hash(key))
			key++
		}
	}
}

// Measured returns the share of n keys never sighted that w says were.
func Measured(w Window, n int) float64 {
	wrong := 0
	for key := range n {
		if w.Count(Hash(1<<40+uint64(key))) > 0 {
			wrong++
		}
	}
	return float64(wrong) / float64(n)
}

// Near fails where got is further from want than this share of it.
func Near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, tolerance*100)
	}
}

func known(w Window, key uint64) bool { return w.Count(Hash(key)) > 0 }
func sight(w Window, key uint64) bool { return w.Sight(Hash(key)) }
