package bloom

import (
	"math"
	"testing"
)

// near fails the test unless got is within tolerance, a ratio, of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: got %v, want %v within %v %%", what, got, want, tolerance*100)
	}
}

func TestSizeGivesTheWorkedFigures(t *testing.T) {
	f := func(n uint64, p, wantBitsPerKey float64, wantK int) {
		t.Helper()
		m, k := Size(n, p)
		near(t, "bits a key", float64(m)/float64(n), wantBitsPerKey, 0.001)
		if k != wantK {
			t.Errorf("Size(%d, %v): got %d probes, want %d", n, p, k, wantK)
		}
	}
	// The optimum for real k is 1.4427 log2(1/p) bits; a whole k costs up to a
	// few per cent more, nothing where log2(1/p) is whole.
	f(1_000_000, 0.01, 9.593, 7)
	f(1_000_000, 0.001, 14.378, 10)
	f(1_000_000, 1.0/1024, 14.427, 10)
	f(1_000_000, 0.5, 1.4427, 1)
	f(1_000_000, 0.9, 0.4343, 1)
	f(20_000, GenerationRate(0.01, 2), 11.037, 8)
}

func TestSizeIsTheSmallestThatKeepsTheRate(t *testing.T) {
	for _, n := range []uint64{1, 7, 1000, 1_000_000, 3_000_000_000} {
		for _, p := range []float64{0.9, 0.3, 0.05, 0.01, 1e-3, 1e-6, 1e-12} {
			m, k := Size(n, p)
			if got := FalsePositiveRate(m, k, n); got > p*(1+1e-9) {
				t.Errorf("Size(%d, %v) = %d, %d: got a rate of %v, want at most that asked for", n, p, m, k, got)
			}
			smaller := uint64(float64(m) * (1 - 1e-6))
			if smaller == m {
				smaller--
			}
			for j := 1; j <= MaxProbes && smaller > 0; j++ {
				if got := FalsePositiveRate(smaller, j, n); got < p*(1-1e-9) {
					t.Errorf("Size(%d, %v) = %d, %d: %d cells and %d probes reach %v", n, p, m, k, smaller, j, got)
				}
			}
		}
	}
}

func TestSizeRefusesWhatNoFilterCanBe(t *testing.T) {
	f := func(n uint64, p float64) {
		t.Helper()
		if m, k := Size(n, p); m != 0 || k != 0 {
			t.Errorf("Size(%d, %v): got %d cells and %d probes, want 0 and 0", n, p, m, k)
		}
	}
	f(0, 0.01)
	f(1, 0)
	f(1, 1)
	f(1, -0.5)
	f(1, math.NaN())
	f(1, math.Inf(1))
	f(math.MaxUint64, 0.01)
}

func TestSizeBoundsTheProbes(t *testing.T) {
	m, k := Size(1000, 1e-30)
	if k != MaxProbes {
		t.Errorf("got %d probes, want the bound of %d", k, MaxProbes)
	}
	if got := FalsePositiveRate(m, k, 1000); got > 1e-30*(1+1e-9) {
		t.Errorf("got a rate of %v, want at most 1e-30", got)
	}
}

func TestRatesGiveTheWorkedFigures(t *testing.T) {
	one := FalsePositiveRate(10_000_000, 7, 1_000_000)
	near(t, "one generation, 10 bits a key, 7 probes", one, 0.00819, 0.001)
	near(t, "two of them, each asked by itself", WindowRate(one, one), 0.01632, 0.001)
	near(t, "the union of their bits", FalsePositiveRate(10_000_000, 7, 2_000_000), 0.1377, 0.001)
	near(t, "half the bits set, 10 probes", RateFromFill(0.5, 10), 1.0/1024, 1e-12)
	near(t, "a generation's share of 1 %", GenerationRate(0.01, 2), 0.0050126, 1e-4)
	if got := FalsePositiveRate(1000, 7, 0); got != 0 {
		t.Errorf("rate of an empty filter: got %v, want 0", got)
	}
	if got := WindowRate(1, 0.1); got != 1 {
		t.Errorf("window with a generation that reports all: got %v, want 1", got)
	}
	if got := WindowRate(); got != 0 {
		t.Errorf("window of nothing: got %v, want 0", got)
	}
}

func TestGenerationRateIsWindowRateSolved(t *testing.T) {
	for _, want := range []float64{0, 1e-12, 1e-4, 0.01, 0.3, 0.99} {
		for g := 1; g <= MaxGenerations; g++ {
			rates := make([]float64, g)
			for i := range rates {
				rates[i] = GenerationRate(want, g)
			}
			near(t, "window rate", WindowRate(rates...), want, 1e-9)
		}
	}
}

func TestKeysFromFillIsTheFillSolved(t *testing.T) {
	const m, k = 100_000, 7
	for _, n := range []float64{0, 1, 5_000, 10_000, 40_000} {
		fill := 1 - math.Exp(-k*n/m)
		near(t, "keys", KeysFromFill(fill, m, k), n, 1e-6)
	}
	if got := KeysFromFill(1, m, k); !math.IsInf(got, 1) {
		t.Errorf("keys in a filter that is all ones: got %v, want +Inf", got)
	}
}

func TestBestProbesIsTheBestWholeNumber(t *testing.T) {
	for bits := 0.1; bits < 80; bits *= 1.07 {
		k := BestProbes(bits)
		const n = 1_000_000
		m := uint64(bits * n)
		got := FalsePositiveRate(m, k, n)
		for j := 1; j <= MaxProbes; j++ {
			if other := FalsePositiveRate(m, j, n); other < got*(1-1e-6) {
				t.Errorf("%.2f bits a key: got %d probes and a rate of %v, but %d give %v", bits, k, got, j, other)
			}
		}
		if best := BestRate(bits); got < best*(1-1e-6) {
			t.Errorf("%.2f bits a key: got a rate of %v, below the least there can be, %v", bits, got, best)
		} else if bits > 2 {
			// What a whole number costs.
			near(t, "rate with a whole number of probes", got, best, 0.05)
		}
	}
}

func TestBitsPerKeyIsBestRateSolved(t *testing.T) {
	for _, p := range []float64{0.9, 0.1, 0.01, 1e-9} {
		near(t, "rate", BestRate(BitsPerKey(p)), p, 1e-12)
		m, _ := Size(10_000_000, p)
		if least := BitsPerKey(p) * 1e7; float64(m) < least*(1-1e-9) {
			t.Errorf("rate %v: Size gives %d cells, below the least of %v", p, m, least)
		}
	}
}

func TestCapacityIsSizeSolvedForTheKeys(t *testing.T) {
	for _, n := range []uint64{1, 9, 1000, 1_000_000, 500_000_000} {
		for _, p := range []float64{0.5, 0.05, 0.01, 1e-6} {
			m, k := Size(n, p)
			if got, gotK := Capacity(m, p); got != n || gotK != k {
				t.Errorf("%d cells at %v: got %d keys and %d probes, want the %d and %d they were made for", m, p, got, gotK, n, k)
			}
			if got := KeysFor(m, k, p); got != n {
				t.Errorf("KeysFor(%d, %d, %v): got %d, want %d", m, k, p, got, n)
			}
			if got := CellsFor(n, k, p); got != m {
				t.Errorf("CellsFor(%d, %d, %v): got %d, want %d", n, k, p, got, m)
			}
			if n > 1 && CellsFor(n-1, k, p) >= m {
				t.Errorf("CellsFor(%d, %d, %v): got no less than for one key more", n-1, k, p)
			}
		}
	}
}

func TestCapacityRefusesWhatNoFilterCanBe(t *testing.T) {
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		if n, k := Capacity(1000, p); n != 0 || k != 0 {
			t.Errorf("Capacity(1000, %v): got %d and %d, want 0 and 0", p, n, k)
		}
		if n, m := KeysFor(1000, 7, p), CellsFor(1000, 7, p); n != 0 || m != 0 {
			t.Errorf("rate %v: got %d keys and %d cells, want 0", p, n, m)
		}
	}
	if n, k := Capacity(1, 0.01); n != 0 || k != 0 {
		t.Errorf("one cell at 1 %%: got %d keys and %d probes, want 0", n, k)
	}
	if n, m := KeysFor(1000, 0, 0.01), CellsFor(1000, 0, 0.01); n != 0 || m != 0 {
		t.Errorf("no probes: got %d keys and %d cells, want 0", n, m)
	}
}
