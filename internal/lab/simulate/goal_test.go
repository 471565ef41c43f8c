package simulate

import (
	"strings"
	"testing"
)

// setting makes a result with what the advice looks at: of 1,000 requests so many
// responses came from the origin.
func setting(name string, writes int64, byteHits float64, responses int64) Result {
	r := result(writes, byteHits)
	r.Policy, r.OriginRequests = name, responses
	r.Requests, r.Hits = 1000, 1000-responses
	r.HitRatio = ratio(r.Hits, r.Requests)
	return r
}

func chosen(t *testing.T, name string, g Goal, want int, results ...Result) {
	t.Helper()
	results[0].Baseline = true
	if got, _ := g.choose(results); got != want {
		t.Errorf("%s, %v: got %d, want %d of %+v", name, g, got, want, results)
	}
}

func TestBalancedIsTheFewestWritesNearTheMostHits(t *testing.T) {
	f := func(name string, want int, results ...Result) {
		t.Helper()
		chosen(t, name, Balanced, want, results...)
	}
	always := setting("always", 1000, 0.40, 500)

	f("alone", 0, always)
	f("two points fewer hits", 1, always, setting("second-hit", 100, 0.39, 520))
	f("more than two points", 0, always, setting("second-hit", 100, 0.39, 521))
	f("the least of three", 2, always, setting("second-hit", 100, 0.39, 510), setting("counting", 99, 0.385, 520))
	f("bytes of the origin at a tenth more", 1, always, setting("second-hit", 100, 0.34, 500))
	f("bytes beyond a tenth more", 0, always, setting("second-hit", 100, 0.339, 500))
	f("from 80 % hits on a tenth more of the origin's responses is less than two points", 0,
		setting("always", 1000, 0.9, 100), setting("second-hit", 100, 0.9, 111))
	f("and at a tenth it is well", 1, setting("always", 1000, 0.9, 100), setting("second-hit", 100, 0.9, 110))
	f("measured by the best, not by always", 1, always, setting("second-hit", 500, 0.50, 400), setting("counting", 100, 0.49, 421))
	f("of equal writes the more hits", 2, always, setting("second-hit", 100, 0.39, 510), setting("counting", 100, 0.39, 505))
	f("nothing is near the best of both: the most hits", 0, setting("always", 300, 0.20, 300), setting("counting", 200, 0.40, 500))
	f("never is no cache", 0, always, setting("never", 0, 0, 1000))
	f("nothing is hit", -1, setting("always", 500, 0, 1000), setting("second-hit", 500, 0, 1000))
	f("nothing but never", -1, setting("never", 0, 0, 1000))
}

func TestTheOtherGoalsAskForOneThing(t *testing.T) {
	always, second, counting := setting("always", 1000, 0.40, 500), setting("second-hit", 300, 0.45, 450), setting("counting", 100, 0.2, 700)
	chosen(t, "three", MostHits, 1, always, second, counting)
	chosen(t, "three", FewestWrites, 2, always, second, counting)
	chosen(t, "of equal hits the fewer writes", MostHits, 1, always, setting("second-hit", 300, 0.40, 500))
	chosen(t, "of equal writes the more hits", FewestWrites, 2, always, counting, setting("counting", 100, 0.2, 600))
}

// A setting with too little evidence is not chosen, and is no measure of the others.
func TestThinSettingsAreNeitherChosenNorAMeasure(t *testing.T) {
	thin := setting("second-hit", 99, 0.6, 300)
	thin.Thin = true
	always, second := setting("always", 1000, 0.40, 500), setting("second-hit", 400, 0.40, 500)
	for _, g := range []Goal{Balanced, FewestWrites, MostHits} {
		chosen(t, "the middle one is thin", g, 2, always, thin, second)
	}
}

func TestAWindowThatFitsItselfGoesFirst(t *testing.T) {
	if (Rotation{Unit: ByKeys, Count: 100}).fitsItself() {
		t.Error("a number of keys: got one that fits itself")
	}
}

func TestGoalsHaveNamesAndRules(t *testing.T) {
	for _, name := range Goals() {
		g, err := ParseGoal(name)
		if err != nil || g.String() != name {
			t.Errorf("%s: got %v, %v", name, g, err)
		}
		if rule := g.Rule(); !strings.Contains(rule, "writes") {
			t.Errorf("%s: got the rule %q", name, rule)
		}
	}
	if _, err := ParseGoal("cheap"); err == nil || err.Error() != "must be fewest_writes, balanced, most_hits" {
		t.Errorf("cheap: got %v", err)
	}
	if got := Balanced.Rule(); !strings.Contains(got, "within 2 points") || !strings.Contains(got, "at most 10% more") {
		t.Errorf("got %q, want its numbers", got)
	}
}
