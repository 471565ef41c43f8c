package simulate

import (
	"strings"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
)

// What knows the future decides itself what it stores. So it has one row, whatever the policies and stages, and is what the
// recommendation is compared with.
func TestTheClairvoyantIsABoundAndNoRecommendation(t *testing.T) {
	g := Grid{
		Policies: []admission.Policy{admission.Always, admission.SecondHit}, Stages: []Amount{{Percent: 10}},
		Capacities: []Amount{{Bytes: 1 << 20}}, Evictions: []model.Eviction{model.Clairvoyant, model.LRU},
	}
	r := replayed(t, zipf(t, 20_000), g)
	bound, others := r.Groups[0].Results, r.Groups[1].Results
	if len(bound) != 1 || bound[0].Recommended || bound[0].onlyBaseline {
		t.Fatalf("got %+v, want one row that is not recommended", bound)
	}
	for _, o := range others {
		if o.HitRatio >= bound[0].HitRatio {
			t.Errorf("%s: got a hit ratio of %v, the bound has %v", o.Policy, o.HitRatio, bound[0].HitRatio)
		}
	}
	if len(r.Advice) != 1 || r.Advice[0].Result.Eviction != "lru" || strings.Contains(r.Advice[0].YAML, "clairvoyant") {
		t.Fatalf("got %+v, want lru recommended", r.Advice)
	}
	got := text(t, r, "zipf:")
	for _, want := range []string{
		"Clairvoyant, which knows the future, has a hit ratio of " + percent(bound[0].HitRatio) + " and a byte hit ratio of " + percent(bound[0].ByteHitRatio) + ": +",
		"Clairvoyant knows the future and decides itself",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

func TestNothingIsRecommendedBesideTheClairvoyantAlone(t *testing.T) {
	r := replayed(t, zipf(t, 10_000), Grid{Capacities: []Amount{{Bytes: 1 << 20}}, Evictions: []model.Eviction{model.Clairvoyant}})
	if len(r.Advice) != 0 || len(r.Unadvised) != 1 || r.Unadvised[0].Why != whyBound {
		t.Errorf("got %+v and %+v, want no advice, and why", r.Advice, r.Unadvised)
	}
}
