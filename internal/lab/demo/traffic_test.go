package demo

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// targets draws n targets from a new traffic.
func targets(m mix, seed uint64, n int) []string {
	t := newTraffic(m, seed)
	out := make([]string, n)
	for i := range out {
		out[i] = string(t.next())
	}
	return out
}

func TestTrafficIsTheSameForTheSameSeed(t *testing.T) {
	first := targets(usualMix(), 1, 10_000)
	if again := targets(usualMix(), 1, 10_000); !slices.Equal(first, again) {
		t.Error("two runs with the same seed differ, want the same targets")
	}
	if other := targets(usualMix(), 2, 10_000); slices.Equal(first, other) {
		t.Error("two seeds give the same targets, want different ones")
	}
}

func TestOneHitWondersHaveTheirShareAndNeverReturn(t *testing.T) {
	f := func(share float64) {
		t.Helper()
		m := usualMix()
		m.oneHit = share
		const n = 100_000
		seen := map[string]bool{}
		var wonders float64
		for _, target := range targets(m, seed, n) {
			if !strings.HasPrefix(target, "/once/") {
				continue
			}
			wonders++
			if seen[target] {
				t.Fatalf("share %v: %s was asked for twice, want once", share, target)
			}
			seen[target] = true
		}
		// Five standard deviations of the binomial law.
		tolerance := 5 * math.Sqrt(share*(1-share)/n)
		if got := wonders / n; math.Abs(got-share) > tolerance {
			t.Errorf("got a share of %v, want %v within %v", got, share, tolerance)
		}
	}
	f(0)
	f(usualMix().oneHit)
	f(0.5)
	f(1)
}

func TestPopularityFollowsZipf(t *testing.T) {
	f := func(exponent float64) {
		t.Helper()
		const n, objects = 400_000, 1000
		counts := map[string]float64{}
		for _, target := range targets(mix{objects: objects, exponent: exponent}, seed, n) {
			counts[target]++
		}
		var harmonic float64
		for r := 1; r <= objects; r++ {
			harmonic += math.Pow(float64(r), -exponent)
		}
		for _, rank := range []int{1, 2, 3, 10, 100, 1000} {
			p := math.Pow(float64(rank), -exponent) / harmonic
			tolerance := 5 * math.Sqrt(p*(1-p)/n)
			target := "/object/" + itoa(rank-1)
			if got := counts[target] / n; math.Abs(got-p) > tolerance {
				t.Errorf("exponent %v: rank %d has a share of %v, want %v within %v", exponent, rank, got, p, tolerance)
			}
		}
	}
	f(0)
	f(0.9)
	f(1.2)
}

func TestDriftReplacesObjectsSlowly(t *testing.T) {
	f := func(drift, n, want int) {
		t.Helper()
		m := usualMix()
		m.drift = drift
		tr := newTraffic(m, seed)
		for range n {
			tr.next()
		}
		if got := tr.made - m.objects; got != want {
			t.Errorf("drift %d: %d requests brought %d new objects, want %d", drift, n, got, want)
		}
		inPlace := 0
		for rank, object := range tr.ranks {
			if rank == object {
				inPlace++
			}
		}
		// One rank may have been replaced more than once.
		if replaced := m.objects - inPlace; replaced > want || replaced < want/2 {
			t.Errorf("drift %d: %d of %d ranks have a new object, want at most %d and at least half of that", drift, replaced, m.objects, want)
		}
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(tr.ranks)))); distinct != m.objects {
			t.Errorf("drift %d: the ranks hold %d distinct objects, want %d", drift, distinct, m.objects)
		}
	}
	f(0, 50_000, 0)
	f(250, 50_000, 200)
	f(1, 1000, 1000)
}

// The demo is about objects that are asked for once.
func TestMostObjectsAreAskedForOnce(t *testing.T) {
	counts := map[string]int{}
	for _, target := range targets(usualMix(), seed, 60*requestsPerSecond) {
		counts[target]++
	}
	once := 0
	for _, n := range counts {
		if n == 1 {
			once++
		}
	}
	if got := float64(once) / float64(len(counts)); got < 0.6 || got > 0.8 {
		t.Errorf("in a minute %.2f of %d objects are asked for once, want 0.6 to 0.8", got, len(counts))
	}
}
