package simulate

import (
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/admission"
)

func TestAdviceIsOneForEachCapacityAndGoesByRistretto(t *testing.T) {
	group := func(capacity, limit int64, eviction string, writes int64) Group {
		return Group{CapacityBytes: capacity, limit: limit, Eviction: eviction, Results: []Result{
			setting("always", 10*writes, 0.4, 500), setting("second-hit", writes, 0.4, 500),
		}}
	}
	r := &Report{Groups: []Group{
		group(1<<20, 0, "lru", 100), group(1<<20, 0, "ristretto", 200), group(1<<20, 0, "s3fifo", 300),
		group(1<<21, 0, "s3fifo", 400), group(1<<21, 0, "lru", 500),
		group(1<<21, 1000, "lru", 600),
	}}
	r.Trace.Requests = minRequests
	for i := range r.Groups {
		markPareto(r.Groups[i].Results)
	}
	r.advise()
	var got []int64
	for _, a := range r.Advice {
		got = append(got, a.Result.Writes)
	}
	if want := []int64{200, 400, 600}; !slices.Equal(got, want) {
		t.Errorf("writes of what is recommended: got %v, want %v", got, want)
	}
	for i, g := range r.Groups {
		if got, want := g.Results[1].Recommended, i == 1 || i == 3 || i == 5; got != want || g.Results[0].Recommended {
			t.Errorf("group %d: got recommended %v, want %v", i, got, want)
		}
	}
}

func TestBaselineThatNobodyAskedForIsNotRecommended(t *testing.T) {
	g := Group{CapacityBytes: 1 << 20, Eviction: "lru", Results: []Result{
		setting("always", 1000, 0.9, 100), setting("second-hit", 100, 0.1, 900),
	}}
	g.Results[0].onlyBaseline, g.Results[0].Baseline = true, true
	markPareto(g.Results)
	r := &Report{Groups: []Group{g}}
	r.Trace.Requests = minRequests
	r.advise()
	if len(r.Advice) != 1 || r.Advice[0].Result.Policy != "second-hit" {
		t.Errorf("got %+v, want second-hit, the only one asked for", r.Advice)
	}
}

// A baseline that nobody asked for is not recommended, but the others are measured
// by it: the fewest writes are no use where the origin pays for them.
func TestBaselineThatNobodyAskedForIsAMeasureOfTheOthers(t *testing.T) {
	g := Group{CapacityBytes: 1 << 20, Eviction: "lru", Results: []Result{
		setting("always", 1000, 0.9, 100), setting("second-hit", 110, 0.5, 500), setting("counting", 100, 0.49, 510),
	}}
	g.Results[0].onlyBaseline, g.Results[0].Baseline = true, true
	markPareto(g.Results)
	r := &Report{Groups: []Group{g}}
	r.Trace.Requests = minRequests
	r.advise()
	if len(r.Advice) != 1 || r.Advice[0].Result.Policy != "second-hit" {
		t.Fatalf("got %+v, want second-hit, which has more hits than counting", r.Advice)
	}
	if why := r.Advice[0].Why; !strings.Contains(why, "No setting that was asked for is within") || !strings.Contains(why, "of 2 settings") {
		t.Errorf("got %q, want that neither of the 2 is near always", why)
	}
}

func TestWhyGivesTheFiguresOfTheRule(t *testing.T) {
	f := func(goal Goal, results []Result, want ...string) {
		t.Helper()
		g := Group{Results: results, Eviction: "lru"}
		g.Results[0].Baseline = true
		for i := range g.Results {
			g.Results[i].WritesAvoided = g.Results[0].Writes - g.Results[i].Writes
			g.Results[i].extraBytes = g.Results[i].OriginBytes - g.Results[0].OriginBytes
		}
		chosen, near := goal.choose(g.Results)
		got := goal.why(&g, &g.Results[chosen], near)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("got %q, want %q in it", got, w)
			}
		}
	}
	always, second := setting("always", 1000, 0.4, 500), setting("second-hit", 100, 0.39, 505)
	two := []Result{always, second}
	f(Balanced, two, "second-hit, eviction lru. ", "2 of 2 settings are within 2 points", "the fewest writes, 100.", "avoids 90.0% of the writes",
		"hit ratio 49.50% for 50.00%", "9.8 KiB more (+1.7%)",
		"Writes to memory cost nothing but a copy: --goal most_hits chooses always, with a hit ratio of 50.00% and 1,000 writes.")
	f(MostHits, two, "always, eviction lru. Of 2 settings it has the most hits, 50.00%.", "Where a write costs something: --goal balanced chooses second-hit, with a hit ratio of 49.50% and 100 writes.")
	f(FewestWrites, two, "second-hit, eviction lru. Of 2 settings it has the fewest writes, 100.", "--goal most_hits chooses always")
	f(Balanced, []Result{always, setting("second-hit", 100, 0.1, 900)},
		"always, eviction lru. 1 of 2 settings", "costs more here", "--goal most_hits chooses the same.")
	f(Balanced, []Result{setting("always", 300, 0.20, 300), setting("counting", 200, 0.40, 500)}, "No setting that was asked for is within 2 points of the highest hit ratio with at most 10% more", "of 2 settings it has the most hits")
	unasked := always
	unasked.onlyBaseline = true
	f(Balanced, []Result{unasked, second}, "Writes to memory cost nothing but a copy: always, which --policy leaves out, has the hit ratio 50.00%.")
}

func TestNothingIsRecommendedWhereThereIsOnlyNever(t *testing.T) {
	r := replayed(t, zipf(t, 10_000), Grid{Policies: []admission.Policy{admission.Never}, Capacities: []Amount{{Bytes: 1 << 20}}})
	if len(r.Advice) != 0 {
		t.Errorf("got %+v, want no advice", r.Advice)
	}
	got := text(t, r, "zipf:")
	if !strings.Contains(got, "\nnothing is recommended at 1.0 MiB: of what was asked for, nothing makes up") {
		t.Errorf("got\n%s\nwant it said that nothing is recommended", got)
	}
}

// A third sighting in place of the second is named with what it saves and costs, whatever is recommended.
func TestTheAdviceSaysWhatAThirdSightingSaves(t *testing.T) {
	of := func(policy string, moreThan float64, stage, writes, hits int64) Result {
		return Result{
			Policy: policy, Parameter: moreThan, StageBytes: stage, Writes: writes, HitRatio: float64(hits) / 1000, rotation: Rotation{Unit: Fitted}, windowed: true,
		}
	}
	second, third := of("second-hit", 0, 50, 400, 350), of("counting", 2, 50, 180, 346)
	f := func(want string, results ...Result) {
		t.Helper()
		if got := thirdSighting(&Group{Results: results}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(" Waiting for a third request (counting, more_than: 2) in place of the second with the stage: -55.0% writes, -0.40 points of hits.",
		of("second-hit", 0, 0, 500, 300), second, of("counting", 2, 0, 10, 200), third)
	f(" Waiting for a third request (counting, more_than: 2) in place of the second: -98.0% writes, -10.00 points of hits.",
		of("second-hit", 0, 0, 500, 300), of("counting", 2, 0, 10, 200))
	f("", second, of("counting", 3, 50, 180, 346))
	f("", second, of("counting", 2, 0, 180, 346))
	f("", third)
	byKeys := third
	byKeys.rotation = Rotation{Unit: ByKeys}
	f("", second, byKeys)
}
