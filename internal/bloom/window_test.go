package bloom

import (
	"fmt"
	"math"
	"testing"
)

// agrees reports a figure that is off by more than share of want.
func agrees(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*want) {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, 100*share)
	}
}

func TestPeakRateAndGenerationRateAreOneFormula(t *testing.T) {
	for _, g := range []int{1, 2, 3, 4, 8} {
		for _, f := range []float64{1e-12, 1e-6, 0.005, 0.3} {
			agrees(t, "back from the peak", GenerationRate(PeakRate(f, g), g), f, 1e-12)
		}
	}
	agrees(t, "two generations of 0.5 %", PeakRate(0.005, 2), 0.009975, 1e-12)
	agrees(t, "equal generations", PeakRate(0.005, 3), WindowRate(0.005, 0.005, 0.005), 1e-12)
	agrees(t, "one generation that is all ones", CycleRate(func(uint64) float64 { return 1 }, 10, 5, 1), 1, 0)
	if got := PeakRate(1, 0); got != 0 {
		t.Errorf("no generation: got %v, want 0", got)
	}
}

func TestCycleRateRunsFromTheOlderToThePeak(t *testing.T) {
	const n, g = 10_000, 3
	m, k := Size(n, 0.005)
	rate := func(n uint64) float64 { return FalsePositiveRate(m, k, n) }
	f := rate(n)
	agrees(t, "after a rotation", CycleRate(rate, n, 0, g), PeakRate(f, g-1), 1e-12)
	agrees(t, "before the next", CycleRate(rate, n, n, g), PeakRate(f, g), 1e-12)
	agrees(t, "half way", CycleRate(rate, n, n/2, g), 1-(1-f)*(1-f)*(1-rate(n/2)), 1e-9)
	for at := uint64(0); at < n; at += 100 {
		if now, next := CycleRate(rate, n, at, g), CycleRate(rate, n, at+100, g); next < now {
			t.Fatalf("at %d keys: got %v and then %v, want a rate that never falls", at, now, next)
		}
	}
}

// With 7 probes and 2 generations the peak is twice f and the mean 1.16 f.
func TestMeanRateOfSevenProbes(t *testing.T) {
	const n = 1_000_000
	m, k := Size(n, 0.01)
	if k != 7 {
		t.Fatalf("got %d probes, want 7", k)
	}
	rate := func(n uint64) float64 { return FalsePositiveRate(m, k, n) }
	agrees(t, "peak", PeakRate(rate(n), 2)/rate(n), 2, 0.01)
	agrees(t, "mean", MeanRate(rate, n, 2)/rate(n), 1.16, 0.01)
}

// A polynomial has a mean that can be written down, and the two rules have to
// agree where one ends and the other begins.
func TestMeanRateIsTheIntegral(t *testing.T) {
	f := func(capacity uint64, power int) {
		t.Helper()
		rate := func(n uint64) float64 { return math.Pow(float64(n)/float64(capacity), float64(power)) / 10 }
		mean := 0.1 / float64(power+1)
		want := 1 - 0.9*(1-mean)
		agrees(t, fmt.Sprintf("x^%d, %d keys", power, capacity), MeanRate(rate, capacity, 2), want, 1e-3)
	}
	for _, capacity := range []uint64{1000, smallCycle, smallCycle + 1, 1e6, 1e9} {
		f(capacity, 1)
		f(capacity, 8)
		f(capacity, MaxProbes)
	}

	constant := func(uint64) float64 { return 0.25 }
	agrees(t, "a constant rate, one key", MeanRate(constant, 1, 2), 1-0.75*0.75, 1e-12)
	agrees(t, "a constant rate, one generation", MeanRate(constant, 1e9, 1), 0.25, 1e-12)
}

// Bits for each key of the guaranteed window at a peak of 1 %: G generations of
// n/(G-1) keys. The textbook needs G/(G-1) 1.4427 log2(G/F), rounded up to a
// whole number of probes, the split block the sum of BlockRate.
func TestBitsForAKeyOfTheGuaranteedWindow(t *testing.T) {
	const n, F = 6_000_000, 0.01
	f := func(layout string, size func(n uint64, p float64) float64, g int, want float64) {
		t.Helper()
		bits := size(uint64(n/(g-1)), GenerationRate(F, g)) * float64(g) / n
		if math.Abs(bits-want) > 0.06 {
			t.Errorf("%s, %d generations: got %.2f bits, want %.1f", layout, g, bits, want)
		}
	}
	textbook := func(n uint64, p float64) float64 {
		m, _ := Size(n, p)
		return float64(m)
	}
	block := func(n uint64, p float64) float64 { return 256 * float64(BlockSize(n, p)) }

	f("textbook", textbook, 2, 22.1)
	f("textbook", textbook, 3, 17.8)
	f("textbook", textbook, 4, 16.6)
	f("split block", block, 2, 24.4)
	f("split block", block, 3, 19.9)
	f("split block", block, 4, 18.7)
}
