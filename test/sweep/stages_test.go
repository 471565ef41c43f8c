package main

import (
	"math"
	"strings"
	"testing"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/test/testkit"
)

// caches returns one row for each list of hits, of 1,000 requests, with the stages tried.
func caches(hits ...[]int64) (out []staged) {
	for _, h := range hits {
		r := staged{trace: "made", share: 5}
		for i := range stageShares() {
			r.outcomes = append(r.outcomes, stageOutcome{requests: 1000, hits: h[min(i, len(h)-1)], writes: 10})
		}
		out = append(out, r)
	}
	return out
}

// A larger stage takes room from the main part, and a smaller one loses second requests: the one chosen is far from
// the best nowhere.
func TestTheStageChosenIsFarFromTheBestNowhere(t *testing.T) {
	f := func(want float64, hits ...[]int64) {
		t.Helper()
		if got := chooseStage(caches(hits...)); got != want {
			t.Errorf("%v: got %g %%, want %g", hits, got, want)
		}
	}
	f(0, []int64{500, 499, 498})
	f(20, []int64{500, 501, 502, 503, 504, 505, 506, 507, 508})
	f(5, []int64{500, 502, 504, 506, 508, 510, 512, 514, 516}, []int64{500, 498, 496, 494, 492, 490, 488, 486, 484})
	if mean, worst := shortfall(caches([]int64{500, 490}, []int64{500, 520}), 0); mean != 1 || math.Abs(worst-2) > 1e-9 {
		t.Errorf("got %g and %g points below the best, want 1 and 2", mean, worst)
	}
}

func TestTheReportOfStagesHasEveryCache(t *testing.T) {
	rows := caches([]int64{500, 600})
	rows = append(rows, staged{trace: "made", share: 1, disk: 10, outcomes: rows[0].outcomes})
	var b strings.Builder
	if err := reportStages(&b, rows); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"5 %", "1 %, disk 10 %", "50.00, +0.00, ×1.00", "60.00", "10.00 / 10.00", "in any memory: 1 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("got no %q in:\n%s", want, got)
		}
	}
}

// The stage that the proxy has is the one that the rule picks.
func TestTheProxyHasTheStageThatTheRulePicks(t *testing.T) {
	testkit.Slow(t, "it plays millions of requests")
	testkit.Plain(t, "it has one goroutine, which takes long under the detector")
	rows, err := sweepStages(t.Context(), testkit.Trace(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	memory, _ := split(rows)
	if got, shipped := chooseStage(memory), 100*float64(fit.Stage(1<<30, 1))/(1<<30); math.Abs(got-shipped) > 0.01 {
		t.Errorf("the rule picks %g %%, internal/admission/fit has %g %%", got, shipped)
	}
}
