package bloom

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// rule gives the k cells of a key.
type rule func(hi, lo, m uint64, k int) []uint64

// ruleOf returns the rule that a Rule states.
func ruleOf(r Rule) rule {
	return func(hi, lo, m uint64, k int) []uint64 {
		p := r.Probes(hi, lo, m)
		cells := make([]uint64, k)
		for i := range cells {
			cells[i] = p.Next()
		}
		return cells
	}
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

func TestRulesSpreadAndTheNaiveOneDoesNot(t *testing.T) {
	const k, limit = 8, 63 + 6*11.2
	for _, m := range []uint64{100_003, 1 << 17, 98_304, 220_741} {
		for r := range rules {
			if got := uneven(ruleOf(r), m, k); got > limit {
				t.Errorf("m=%d, %v: got a chi-square of %.0f, want at most %.0f", m, r, got, limit)
			}
		}
		if got := uneven(naive, m, k); got < 100*limit {
			t.Errorf("m=%d, h(x)+i: got a chi-square of %.0f, want the test to reject it by far", m, got)
		}
	}
}

// shared returns how many of a key's k cells a second key has too, on average
// over pairs of keys that have the first cell in common.
func shared(r rule, m uint64, k int) float64 {
	const pairs = 5000
	random, sum := rand.New(rand.NewPCG(7, 8)), 0
	for range pairs {
		hi := random.Uint64()
		first, second := r(hi, random.Uint64(), m, k), r(hi, random.Uint64(), m, k)
		in := map[uint64]bool{}
		for _, c := range first {
			in[c] = true
		}
		for _, c := range second {
			if in[c] {
				sum++
			}
		}
	}
	return float64(sum) / pairs
}

func TestKeysThatShareTheFirstCellShareNoMore(t *testing.T) {
	const k = 8
	for _, m := range []uint64{100_003, 1 << 17} {
		for r := range rules {
			// Further cells meet with a chance of k^2/m, 0.0006.
			if got := shared(ruleOf(r), m, k); got < 1 || got > 1.01 {
				t.Errorf("m=%d, %v: got %v cells in common, want the first and hardly another", m, r, got)
			}
		}
		if got := shared(naive, m, k); got != k {
			t.Errorf("m=%d, h(x)+i: got %v cells in common, want all %d", m, got, k)
		}
	}
}

func TestProbesAreDistinct(t *testing.T) {
	const m, k, keys = 100_003, 8, 20_000
	for r := range rules {
		random := rand.New(rand.NewPCG(3, 4))
		repeats := 0
		for range keys {
			repeats += k - distinct(ruleOf(r)(random.Uint64(), random.Uint64(), m, k))
		}
		// k(k-1)/2 pairs of independent choices meet with a chance of 1/m each.
		expected := float64(keys) * k * (k - 1) / 2 / m
		if got := float64(repeats); got > 4*expected {
			t.Errorf("%v: got %v repeated cells in %d keys, want about %.1f", r, got, keys, expected)
		}
	}
}

func distinct(cells []uint64) int {
	set := map[uint64]bool{}
	for _, c := range cells {
		set[c] = true
	}
	return len(set)
}

// Plain double hashing folds these walks onto one, two or four cells, the others
// do not.
func TestOnlyDoubleHashingFoldsOnAStepThatDividesTheArray(t *testing.T) {
	const k = 8
	f := func(m uint64, step string, lo uint64, folded int) {
		t.Helper()
		for _, r := range []Rule{RuleEnhanced, RuleSquare} {
			if got := distinct(ruleOf(r)(1<<40, lo, m, k)); got < k-1 {
				t.Errorf("m=%d, step %s, %v: got %d distinct cells of %d, want at least %d", m, step, r, got, k, k-1)
			}
		}
		if got := distinct(ruleOf(RuleDouble)(1<<40, lo, m, k)); got != folded {
			t.Errorf("m=%d, step %s, double: got %d distinct cells, want %d", m, step, got, folded)
		}
	}
	f(1<<16, "0", 0, 1)
	f(1<<16, "m/2", 1<<63, 2)
	f(1<<16, "m/4", 1<<62, 4)
	f(1<<16, "3m/4", 3<<62, 4)
	f(1<<16, "m-1", 1<<64-1, k)
	f(100_003, "0", 0, 1)
	f(100_003, "m-1", 1<<64-1, k)
}

func TestProbesFollowTheFormulaAndStayInRange(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for r := range rules {
		for _, m := range []uint64{MinCells, 65, 1000, 1<<33 + 7, MaxCells} {
			for _, corner := range []uint64{0, 1 << 63, 1<<64 - 1, random.Uint64()} {
				hi, lo := corner, random.Uint64()|corner
				for i, got := range ruleOf(r)(hi, lo, m, MaxProbes) {
					if want := formula(r, hi, lo, m, int64(i)); got != want || got >= m {
						t.Fatalf("%v, m=%d probe %d: got cell %d, want %d, below m", r, m, i, got, want)
					}
				}
			}
		}
	}
}

func TestFoldedWalksAreTheWalkModuloWhatIsLeft(t *testing.T) {
	const span = 8 * 1000
	for r := range rules {
		for _, h := range hashes(9, 200) {
			for _, m := range []uint64{span / 2, span / 4, span / 8} {
				whole, part := r.Probes(h[0], h[1], span), r.bend().folded(h[0], h[1], span, m)
				for i := range MaxProbes {
					if got, want := part.Next(), whole.Next()%m; got != want {
						t.Fatalf("%v, m=%d probe %d: got cell %d, want %d", r, m, i, got, want)
					}
				}
			}
		}
	}
}

func TestRuleWords(t *testing.T) {
	got := ""
	for r := range rules + 1 {
		got += r.String() + " "
	}
	if want := "enhanced double square unknown "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// formula is the doc comment of Rule in exact arithmetic.
func formula(r Rule, hi, lo, m uint64, i int64) uint64 {
	M, I := new(big.Int).SetUint64(m), big.NewInt(i)
	reduce := func(h uint64) *big.Int {
		v := new(big.Int).Mul(new(big.Int).SetUint64(h), M)
		return v.Rsh(v, 64)
	}
	f := [rules]int64{RuleEnhanced: (i*i*i - i) / 6, RuleSquare: i * i}[r]
	v := new(big.Int).Mul(reduce(lo), I)
	v.Add(v, reduce(hi))
	v.Add(v, big.NewInt(f))
	return v.Mod(v, M).Uint64()
}

// hashes returns n pairs of random halves of a hash.
func hashes(seed uint64, n int) [][2]uint64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([][2]uint64, n)
	for i := range out {
		out[i] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	return out
}

// The false positive test can tell a bad rule: adjacent cells err far more.
func TestNaiveRuleErrsFarAboveTheFormula(t *testing.T) {
	const n, m, k, queries = 20_000, 10 * 20_000, 7, 200_000
	set := make([]bool, m)
	for _, h := range hashes(2, n) {
		for _, c := range naive(h[0], h[1], m, k) {
			set[c] = true
		}
	}
	wrong := 0
	for _, h := range hashes(3, queries) {
		all := true
		for _, c := range naive(h[0], h[1], m, k) {
			all = all && set[c]
		}
		if all {
			wrong++
		}
	}
	if got, formula := float64(wrong)/queries, FalsePositiveRate(m, k, n); got < 20*formula {
		t.Errorf("h(x)+i: got a rate of %v, want the test to see it far above %v", got, formula)
	}
}
