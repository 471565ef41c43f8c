package textbook

import (
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

// measure returns the share of so many unseen keys that has reports.
func measure(seed uint64, queries int, has func(hi, lo uint64) bool) float64 {
	random, wrong := rand.New(rand.NewPCG(seed, 99)), 0
	for range queries {
		if has(random.Uint64(), random.Uint64()) {
			wrong++
		}
	}
	return float64(wrong) / float64(queries)
}

// Filters made for n keys at a rate, holding exactly n, are asked for a million
// unseen keys: within 10 % of the formula, and not above the rate.
func TestExactlyFullFiltersKeepTheirRate(t *testing.T) {
	testkit.Plain(t, "one goroutine asks a filter")
	const n, queries = 20_000, 1_000_000
	f := func(name string, p, formula float64, s Set) {
		t.Helper()
		for _, h := range hashes(21, n) {
			s.Add(h[0], h[1])
		}
		got := measure(22, queries, s.Has)
		near(t, name+" against the formula", got, formula, 0.1)
		if got > p {
			t.Errorf("%s: measured %v, want at most the %v it was made for", name, got, p)
		}
	}
	try := func(p float64, rule bloom.Rule) {
		t.Helper()
		params, err := ParamsFor(n, p)
		if err != nil {
			t.Fatal(err)
		}
		params.Rule = rule
		f("filter, "+rule.String(), p, ExactRate(params.Cells, params.Probes, n), NewFilterWith(params))
		if params, err = PartitionedParamsFor(n, p); err != nil {
			t.Fatal(err)
		}
		params.Rule = rule
		formula := ExactPartitionedRate(params.Cells, params.Probes, n)
		f("partitioned, "+rule.String(), p, formula, NewPartitionedWith(params))
	}
	try(0.05, bloom.RuleEnhanced)
	try(0.01, bloom.RuleEnhanced)
	try(0.01, bloom.RuleDouble)
	try(0.01, bloom.RuleSquare)
}

// Filters differ by the hash they are given. The reserve of DesignRate is there
// for those that err more than the mean.
func TestDesignRateHoldsForEveryHash(t *testing.T) {
	const n, queries, p, filters = 20_000, 100_000, 0.01, 20
	params, err := ParamsFor(n, p)
	if err != nil {
		t.Fatal(err)
	}
	asIs, mean := 0, 0.0
	for seed := range uint64(filters) {
		f := NewFilterWith(params)
		for _, h := range hashes(1000+seed, n) {
			f.Add(h[0], h[1])
		}
		// The fill gives this filter's rate without the noise of queries.
		rate := bloom.RateFromFill(f.Fill(), params.Probes)
		if rate > p {
			t.Errorf("hash %d: got a rate of %v, want at most %v", seed, rate, p)
		}
		if rate > bloom.DesignRate(p) {
			asIs++
		}
		mean += measure(seed, queries, f.Has) / filters
	}
	near(t, "mean over all hashes", mean, bloom.DesignRate(p), 0.025)
	if asIs < filters/5 {
		t.Errorf("only %d of %d filters err more than the mean: the reserve has nothing to do", asIs, filters)
	}
}

func TestParamsForNamesTheBadFigure(t *testing.T) {
	f := func(n uint64, p float64, want string) {
		t.Helper()
		for _, sized := range []func(uint64, float64) (Params, error){ParamsFor, PartitionedParamsFor} {
			params, err := sized(n, p)
			if err == nil || err.Error() != want || params != (Params{}) {
				t.Errorf("%d keys at %v: got %+v and error %v, want none and %q", n, p, params, err, want)
			}
		}
	}
	f(0, 0.01, "keys: 0: must be a number above 0")
	f(1, 0, "false_positive_rate: 0: must be a ratio above 0 and below 1")
	f(1, 1, "false_positive_rate: 1: must be a ratio above 0 and below 1")
	f(1<<40, 0.01, "keys: 1099511627776: must be a filter of at most 17179869184 bits; fewer keys or a higher false_positive_rate")
	f(1<<63, 0.01, "keys: 9223372036854775808: must be a filter of at most 17179869184 bits; fewer keys or a higher false_positive_rate")
}

func TestParamsForAFewKeysIsTheSmallestFilter(t *testing.T) {
	params, err := ParamsFor(1, 0.5)
	if err != nil || params.Cells != bloom.MinCells {
		t.Errorf("got %+v and error %v, want %d cells", params, err, bloom.MinCells)
	}
}
