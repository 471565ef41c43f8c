package bloom

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// rule gives the k cells of a key.
type rule func(hi, lo, m uint64, k int) []uint64

func enhanced(hi, lo, m uint64, k int) []uint64 {
	p := NewProbes(hi, lo, m)
	cells := make([]uint64, k)
	for i := range cells {
		cells[i] = p.Next()
	}
	return cells
}

// naive is h(x)+i: the rule that looks right and is not.
func naive(hi, _, m uint64, k int) []uint64 {
	cells := make([]uint64, k)
	for i := range cells {
		cells[i] = (hi + uint64(i)) % m
	}
	return cells
}

// uneven returns how far a rule is from k independent even choices: the worst
// chi-square, over 64 buckets, of any probe and of the distance between any two
// probes of a key. Independent choices have a mean of 63 and a deviation of 11.
func uneven(r rule, m uint64, k int) float64 {
	const keys, buckets = 20_000, 64
	counts := make([][buckets]int, k+k*k)
	random := rand.New(rand.NewPCG(1, 2))
	for range keys {
		cells := r(random.Uint64(), random.Uint64(), m, k)
		for i, a := range cells {
			counts[i][a*buckets/m]++
			for j, b := range cells[:i] {
				counts[k+i*k+j][(a+m-b)%m*buckets/m]++
			}
		}
	}
	worst := 0.0
	for n, c := range counts {
		if i, j := n/k-1, n%k; n >= k && j >= i {
			continue // no such pair
		}
		chi := 0.0
		for _, seen := range c {
			d := float64(seen) - keys/buckets
			chi += d * d / (keys / buckets)
		}
		worst = max(worst, chi)
	}
	return worst
}

func TestProbesSpreadAndTheNaiveRuleDoesNot(t *testing.T) {
	const k, limit = 8, 63 + 6*11.2
	for _, m := range []uint64{100_003, 1 << 17, 98_304, 220_741} {
		if got := uneven(enhanced, m, k); got > limit {
			t.Errorf("m=%d: got a chi-square of %.0f, want at most %.0f", m, got, limit)
		}
		if got := uneven(naive, m, k); got < 100*limit {
			t.Errorf("m=%d, h(x)+i: got a chi-square of %.0f, want the test to reject it by far", m, got)
		}
	}
}

func TestProbesAreDistinct(t *testing.T) {
	const m, k, keys = 100_003, 8, 20_000
	random := rand.New(rand.NewPCG(3, 4))
	repeats := 0
	for range keys {
		repeats += k - distinct(enhanced(random.Uint64(), random.Uint64(), m, k))
	}
	// k(k-1)/2 pairs of independent choices meet with a chance of 1/m each.
	expected := float64(keys) * k * (k - 1) / 2 / m
	if got := float64(repeats); got > 4*expected {
		t.Errorf("got %v repeated cells in %d keys, want about %.1f", got, keys, expected)
	}
}

func distinct(cells []uint64) int {
	set := map[uint64]bool{}
	for _, c := range cells {
		set[c] = true
	}
	return len(set)
}

// Plain double hashing folds these walks onto one, two or four cells.
func TestProbesSurviveAStepThatDividesTheArray(t *testing.T) {
	const k = 8
	for _, m := range []uint64{1 << 16, 100_003} {
		for name, lo := range map[string]uint64{
			"0": 0, "m/2": 1 << 63, "m/4": 1 << 62, "3m/4": 3 << 62, "m-1": 1<<64 - 1,
		} {
			if got := distinct(enhanced(1<<40, lo, m, k)); got < k-1 {
				t.Errorf("m=%d, step %s: got %d distinct cells of %d, want at least %d", m, name, got, k, k-1)
			}
		}
	}
}

func TestProbesFollowTheFormulaAndStayInRange(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, m := range []uint64{MinCells, 65, 1000, 1<<33 + 7, MaxCells} {
		for _, corner := range []uint64{0, 1 << 63, 1<<64 - 1, random.Uint64()} {
			hi, lo := corner, random.Uint64()|corner
			for i, got := range enhanced(hi, lo, m, MaxProbes) {
				if want := formula(hi, lo, m, int64(i)); got != want || got >= m {
					t.Fatalf("m=%d probe %d: got cell %d, want %d, below m", m, i, got, want)
				}
			}
		}
	}
}

// formula is the doc comment of Probes in exact arithmetic.
func formula(hi, lo, m uint64, i int64) uint64 {
	M, I := new(big.Int).SetUint64(m), big.NewInt(i)
	reduce := func(h uint64) *big.Int {
		v := new(big.Int).Mul(new(big.Int).SetUint64(h), M)
		return v.Rsh(v, 64)
	}
	v := new(big.Int).Mul(reduce(lo), I)
	v.Add(v, reduce(hi))
	v.Add(v, big.NewInt((i*i*i-i)/6))
	return v.Mod(v, M).Uint64()
}
