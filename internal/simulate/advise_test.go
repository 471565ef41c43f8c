package simulate

import (
	"strings"
	"testing"

	"edgeproxy/internal/admission"
)

// setting makes a result with what the advice looks at.
func setting(name string, writes int64, byteHits float64, requests int64) Result {
	r := result(writes, byteHits)
	r.Policy, r.OriginRequests = name, requests
	return r
}

func TestRecommendedHasTheFewestWritesThatTheOriginCanBear(t *testing.T) {
	f := func(name string, want int, results ...Result) {
		t.Helper()
		markPareto(results)
		if got := recommended(results); got != want {
			t.Errorf("%s: got %d, want %d of %+v", name, got, want, results)
		}
	}
	always := setting("always", 1000, 0.40, 500)

	f("alone", 0, always)
	f("fewer writes, bytes within 5 %", 1, always, setting("second-hit", 100, 0.38, 500))
	f("bytes beyond 5 %", 0, always, setting("second-hit", 100, 0.36, 500))
	f("responses beyond 10 %", 0, always, setting("second-hit", 100, 0.39, 551))
	f("responses at 10 %", 1, always, setting("second-hit", 100, 0.39, 550))
	f("the least of three", 2, always, setting("second-hit", 100, 0.39, 500), setting("counting", 10, 0.385, 500))
	f("measured against the best, not against always", 1, always, setting("second-hit", 500, 0.50, 400), setting("counting", 10, 0.41, 400))
	f("off the front never", 2, always, setting("second-hit", 100, 0.39, 500), setting("second-hit", 100, 0.395, 500))
	f("high hit ratios: a point is much of the origin's bill", 0, setting("always", 1000, 0.95, 100), setting("second-hit", 100, 0.94, 100))
	// The one with few responses has too many bytes, the other too many
	// responses: the fewest bytes win.
	f("nothing is near the best of both", 1, setting("second-hit", 10, 0.20, 300), setting("counting", 20, 0.40, 500))
	f("never is no cache", 0, always, setting("never", 0, 0, 1000))
	f("nothing can be hit, and never writes nothing", -1, setting("never", 0, 0, 1000), setting("always", 5, 0, 1000), setting("second-hit", 5, 0, 1000))
	f("nothing but never", -1, setting("never", 0, 0, 1000))
}

func TestAdviceIsOneForEachCapacityAndGoesByRistretto(t *testing.T) {
	group := func(capacity, limit int64, eviction string, writes int64) Group {
		return Group{CapacityBytes: capacity, limit: limit, Eviction: eviction, Results: []Result{
			setting("always", 10*writes, 0.4, 500), setting("second-hit", writes, 0.4, 500),
		}}
	}
	r := &Report{Groups: []Group{
		group(1<<20, 0, "lru", 1), group(1<<20, 0, "ristretto", 2), group(1<<20, 0, "s3fifo", 3),
		group(1<<21, 0, "s3fifo", 4), group(1<<21, 0, "lru", 5),
		group(1<<21, 1000, "lru", 6),
	}}
	for i := range r.Groups {
		markPareto(r.Groups[i].Results)
	}
	r.advise()
	var got []int64
	for _, a := range r.Advice {
		got = append(got, a.Result.Writes)
	}
	if want := []int64{2, 4, 6}; len(got) != 3 || got[0] != 2 || got[1] != 4 || got[2] != 6 {
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
	g.Results[0].unasked = true
	markPareto(g.Results)
	r := &Report{Groups: []Group{g}}
	r.advise()
	if len(r.Advice) != 1 || r.Advice[0].Result.Policy != "second-hit" {
		t.Errorf("got %+v, want second-hit, the only one asked for", r.Advice)
	}
}

// What nobody asked for is not recommended, and is what the others are measured by
// all the same: the fewest writes are no use where the origin pays for them.
func TestBaselineThatNobodyAskedForIsAMeasureOfTheOthers(t *testing.T) {
	g := Group{CapacityBytes: 1 << 20, Eviction: "lru", Results: []Result{
		setting("always", 1000, 0.9, 100), setting("second-hit", 100, 0.5, 500), setting("counting", 10, 0.49, 510),
	}}
	g.Results[0].unasked = true
	markPareto(g.Results)
	r := &Report{Groups: []Group{g}}
	r.advise()
	if len(r.Advice) != 1 || r.Advice[0].Result.Policy != "second-hit" {
		t.Fatalf("got %+v, want second-hit, which fetches less than counting", r.Advice)
	}
	if why := r.Advice[0].Why; !strings.Contains(why, "No setting keeps both") || !strings.Contains(why, "of 2 settings") {
		t.Errorf("got %q, want that neither of the 2 is near always", why)
	}
}

func TestWhyGivesTheFiguresOfTheRule(t *testing.T) {
	f := func(g Group, chosen int, want ...string) {
		t.Helper()
		for i := range g.Results {
			g.Results[i].WritesAvoided = g.Results[0].Writes - g.Results[i].Writes
			g.Results[i].extra = g.Results[i].OriginBytes - g.Results[0].OriginBytes
		}
		got := why(&g, &g.Results[chosen])
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("got %q, want %q in it", got, w)
			}
		}
	}
	always, second := setting("always", 1000, 0.4, 500), setting("second-hit", 100, 0.39, 505)
	always.HitRatio, second.HitRatio = 0.5, 0.49
	f(Group{Results: []Result{always, second}}, 1,
		"second-hit. ", "for 2 of 2 settings", "the fewest writes, 100.", "avoids 90.0% of the writes", "hit ratio 49.00% for 50.00%", "9.8 KiB more (+1.7%)")
	f(Group{Results: []Result{always, setting("second-hit", 100, 0.1, 900)}}, 0,
		"always. ", "for 1 of 2 settings", "costs more here")
	f(Group{Results: []Result{setting("second-hit", 10, 0.20, 300), setting("counting", 20, 0.40, 500)}}, 1,
		"No setting keeps both", "of 2 settings it fetches the fewest bytes", "195 KiB less (-25.0%)")
}

func TestNothingIsRecommendedWhereThereIsOnlyNever(t *testing.T) {
	r := replayed(t, tiny(t), Grid{Policies: []admission.Policy{admission.Never}})
	if len(r.Advice) != 0 {
		t.Errorf("got %+v, want no advice", r.Advice)
	}
	if got := text(t, r, "tiny.log"); !strings.Contains(got, "\nnothing is recommended at 52 KiB: of what was asked for, nothing makes up") {
		t.Errorf("got\n%s\nwant it said that nothing is recommended", got)
	}
}
