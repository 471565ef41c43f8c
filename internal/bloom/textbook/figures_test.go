package textbook

import (
	"math"
	"testing"

	"edgeproxy/internal/bloom"
)

// The figures that the literature and the documents of this project quote, each
// from the functions that stand for its formula.
func TestWorkedFigures(t *testing.T) {
	f := func(what string, got, want, tolerance float64) {
		t.Helper()
		near(t, what, got, want, tolerance)
	}
	const n = 1_000_000

	f("30 rows of 900,000 bits, MB", float64(NewPartitioned(900_000, 30).Bytes())/1e6, 3.375, 0)
	// (1-e^-2)^30 is 1.2748 %. With 1-e^-2 rounded to 0.8647 first it comes out as
	// the 1.28 % that is quoted.
	f("5 M keys in 30 rows of 2.5 M bits", bloom.PartitionedRate(2_500_000, 30, 5_000_000), 0.012747709, 1e-7)
	f("the same, written out", bloom.PartitionedRate(2_500_000, 30, 5_000_000), math.Pow(1-math.Exp(-2), 30), 1e-12)
	f("the same, as quoted", bloom.PartitionedRate(2_500_000, 30, 5_000_000), 0.0128, 0.005)
	f("the same, exact", ExactPartitionedRate(2_500_000, 30, 5_000_000), 0.012747733, 1e-7)

	f("10 bits a key, best probes", float64(bloom.BestProbes(10)), 7, 0)
	f("10 bits a key, best real probes", bloom.OptimalProbes(10), 6.931, 1e-4)
	f("10 bits a key, rate with 7", bloom.FalsePositiveRate(10*n, 7, n), 0.008194, 1e-3)
	f("10 bits a key, rate at best", bloom.BestRate(10), 0.008193, 1e-3)
	if got := ExactRate(10*n, 7, n); got >= 0.0085 {
		t.Errorf("10 bits a key: got a rate of %v, want below 0.0085", got)
	}
	f("0.6185^(m/n)", bloom.BestRate(1), 0.6185, 1e-4)
	f("bits a key at 1 %", bloom.BitsPerKey(0.01), 9.585, 1e-4)
	f("bits a key at 1/1024", bloom.BitsPerKey(1.0/1024), 14.427, 1e-4)

	// One bit for each of 2N keys, one hash: "about 40 %" is 1 - e^(-1/2).
	f("table of 2N bits, one probe", bloom.FalsePositiveRate(2*n, 1, n), 0.39346934, 1e-8)
	f("the same, exact for N = 1 M", ExactRate(2*n, 1, n), 0.39346942, 1e-8)
	f("the same, exact for N = 50", ExactRate(100, 1, 50), 1-math.Pow(0.99, 50), 1e-12)
	f("2 bits a key, best probes", float64(bloom.BestProbes(2)), 1, 0)
}

// A window of G generations that surely holds n keys needs G of n/(G-1) keys
// each. These are the bits for each of the n.
func TestBitsPerKeyOfAWindow(t *testing.T) {
	const n = 1_000_000
	f := func(generations int, window, want float64) {
		t.Helper()
		m, _ := bloom.Size(n, bloom.GenerationRate(window, generations))
		got := float64(m) / n * float64(generations) / float64(max(generations-1, 1))
		if math.Abs(got-want) > 0.05 {
			t.Errorf("%d generations at %v: got %.2f bits for each key of the window, want %.1f", generations, window, got, want)
		}
	}
	f(1, 0.01, 9.6)
	f(2, 0.01, 22.1)
	f(3, 0.01, 17.8)
	f(4, 0.01, 16.6)
	f(8, 0.01, 15.9)
}

// Testing the OR of the generations is the mistake: the same bits then report
// eight times as many unseen keys.
func TestTheUnionOfGenerationsErrsFarMore(t *testing.T) {
	const n, queries = 20_000, 200_000
	older, newer := NewFilter(10*n, 7), NewFilter(10*n, 7)
	for i, h := range hashes(31, 2*n) {
		if i < n {
			older.Add(h[0], h[1])
		} else {
			newer.Add(h[0], h[1])
		}
	}
	each := measure(32, queries, func(hi, lo uint64) bool { return older.Has(hi, lo) || newer.Has(hi, lo) })
	near(t, "each asked by itself", each, 0.0163, 0.1)
	if err := newer.Union(older); err != nil {
		t.Fatal(err)
	}
	near(t, "the union asked", measure(32, queries, newer.Has), 0.138, 0.05)
}

// The same proportions with a hundredth of the keys, measured: 30 rows of 25,000
// bits, 50,000 keys.
func TestTheWorkedPartitionedFilterErrsSo(t *testing.T) {
	f := NewPartitioned(25_000, 30)
	for _, h := range hashes(33, 50_000) {
		f.Add(h[0], h[1])
	}
	// 30 probes: a fill off by its deviation of 0.1 % moves the rate by 3 %.
	near(t, "measured", measure(34, 200_000, f.Has), 0.012747709, 0.1)
	near(t, "by the fill", bloom.RateFromFill(f.Fill(), 30), 0.012747709, 0.05)
}
