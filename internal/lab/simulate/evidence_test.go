package simulate

import (
	"strings"
	"testing"
)

// judged is a group of always and second-hit with this much to rest on, in a log
// of so many requests.
func judged(requests, alwaysWrites, writes, rounds int64) *Report {
	always, second := setting("always", alwaysWrites, 0.4, 500), setting("second-hit", writes, 0.4, 500)
	always.Baseline = true
	second.windowed, second.Generations, second.rotations = true, 2, rounds
	second.rotation, second.keys = Rotation{Unit: ByKeys, Count: 100}, 100
	r := &Report{Groups: []Group{{CapacityBytes: 1 << 20, Eviction: "lru", Results: []Result{always, second}}}}
	r.Trace.Requests = requests
	r.advise()
	return r
}

func TestNothingIsRecommendedOnTooLittleEvidence(t *testing.T) {
	f := func(name string, r *Report, want ...string) {
		t.Helper()
		if len(want) == 0 {
			if len(r.Advice) != 1 || len(r.Unadvised) != 0 || r.Advice[0].Result.Policy != "second-hit" {
				t.Errorf("%s: got %+v and %+v, want second-hit", name, r.Advice, r.Unadvised)
			}
			return
		}
		if len(r.Advice) != 0 || len(r.Unadvised) != 1 {
			t.Fatalf("%s: got %+v, want nothing recommended", name, r.Advice)
		}
		for _, w := range want {
			if got := r.Unadvised[0].Why; !strings.Contains(got, w) {
				t.Errorf("%s: got %q, want %q in it", name, got, w)
			}
		}
	}
	f("enough of each", judged(2500, 101, 100, 4))
	f("a request too few", judged(2499, 100, 100, 4), "there are 2,499 of 2,500 requests. A longer log has more")
	f("a write of always too few", judged(2500, 99, 100, 4), "99 of 100 writes under always")
	f("a write of the setting too few", judged(2500, 100, 99, 4), "99 of 100 writes under a policy with a window (second-hit, rotated at 100 keys)")
	f("a rotation too few", judged(2500, 100, 100, 3), "1 of 2 windows turned over (second-hit, rotated at 100 keys)")
	f("a log of 498 requests, which had counting with 0 writes recommended", judged(498, 40, 0, 1),
		"498 of 2,500 requests, 40 of 100 writes under always, 0 of 2 windows turned over", "0 of 100 writes under a policy with a window")

	r := judged(2500, 100, 99, 4)
	other := r.Groups[0].Results[1]
	other.Writes, other.rotations = 100, 3
	r.Groups[0].Results = append(r.Groups[0].Results, other)
	r.Unadvised = nil
	r.advise()
	f("each lacks another", r, "no setting with both 2 windows turned over and 100 writes")
}

// One that has the evidence is enough for a recommendation; what was left out is
// said.
func TestWhatIsLeftOutOfTheRecommendationIsSaid(t *testing.T) {
	r := judged(2500, 1000, 500, 4)
	thin := r.Groups[0].Results[1]
	thin.Writes = 10
	r.Groups[0].Results = append(r.Groups[0].Results, thin)
	r.Advice = nil
	r.advise()
	if len(r.Advice) != 1 || r.Advice[0].Result.Writes != 500 {
		t.Fatalf("got %+v, want the one with 500 writes", r.Advice)
	}
	if why := r.Advice[0].Why; !strings.Contains(why, " 1 setting is not judged: fewer than 2 windows turned over or 100 writes.") {
		t.Errorf("got %q, want it said", why)
	}
}

// A memory that never forgets is nothing that the proxy has.
func TestNeverForgettingIsNoEvidence(t *testing.T) {
	r := judged(2500, 1000, 500, 0)
	r.Groups[0].Results[1].Generations, r.Groups[0].Results[1].rotation = 0, Rotation{}
	r.Unadvised = nil
	r.advise()
	if len(r.Advice) != 0 || !strings.Contains(r.Unadvised[0].Why, "0 of 2 windows turned over (second-hit, never forgetting)") {
		t.Errorf("got %+v and %+v, want nothing recommended", r.Advice, r.Unadvised)
	}
}

// The rows that cannot be recommended are marked, on the front or off it.
func TestThinRowsAreMarked(t *testing.T) {
	for want, r := range map[string]Result{
		"* thin": {Pareto: true, Thin: true}, "  thin": {Thin: true}, "*": {Pareto: true}, "": {}, "* recommended": {Pareto: true, Recommended: true},
	} {
		if got := frontCell(&r); got != want {
			t.Errorf("%+v: got %q, want %q", r, got, want)
		}
	}
}
