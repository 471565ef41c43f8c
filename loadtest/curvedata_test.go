package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/ops/page"
)

// looks are counts at the given numbers of requests, each with ten times as many
// writes and half as many hits.
func looksAt(requests ...int64) (out []counts) {
	for _, n := range requests {
		out = append(out, counts{requests: n, writes: 10 * n, hits: n / 2})
	}
	return out
}

func TestTrackRisesInRequests(t *testing.T) {
	f := func(want []int64, requests ...int64) {
		t.Helper()
		tr := newCurveData("t", looksAt(requests...), newTally(), sampleCost{})
		var got []int64
		for _, c := range tr.samples {
			got = append(got, c.requests)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", requests, diff)
		}
	}
	f([]int64{0, 5, 9}, 0, 5, 9)
	f([]int64{0, 5, 9}, 0, 0, 5, 5, 5, 9, 9)
	f([]int64{3}, 3)
	tr := newCurveData("t", []counts{{requests: 4, writes: 1}, {requests: 4, writes: 2}}, newTally(), sampleCost{})
	if len(tr.samples) != 1 || tr.samples[0].writes != 2 {
		t.Errorf("two looks at the same request: got %+v, want the later one", tr.samples)
	}
}

func TestMarksAreTheSameForAll(t *testing.T) {
	f := func(want []float64, requests int64, looks ...int) {
		t.Helper()
		var tracks []curveData
		for _, n := range looks {
			tr := curveData{}
			for i := range n {
				tr.samples = append(tr.samples, counts{requests: int64(i)})
			}
			tracks = append(tracks, tr)
		}
		if diff := cmp.Diff(want, curvePoints(tracks, requests)); diff != "" {
			t.Errorf("%d requests, looks %v (-want +got):\n%s", requests, looks, diff)
		}
	}
	f([]float64{0, 500, 1000}, 1000, 9, 3)
	f([]float64{0, 1000}, 1000, 2)
	f([]float64{0, 1000}, 1000, 1)
	if got := curvePoints([]curveData{{samples: make([]counts, 5000)}}, 10); len(got) != maxCurvePoints+1 || got[maxCurvePoints] != 10 {
		t.Errorf("got %d marks up to %v, want %d up to 10", len(got), got[len(got)-1], maxCurvePoints+1)
	}
}

func TestCurvesGoStraightBetweenLooks(t *testing.T) {
	tr := curveData{name: "p", samples: looksAt(0, 100, 400)}
	m := []float64{0, 50, 100, 250, 400, 500}
	f := func(got page.Series, x, y []float64) {
		t.Helper()
		if diff := cmp.Diff(page.Series{Name: "p", X: x, Y: y}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	f(tr.sum(m, writesOf), m, []float64{0, 500, 1000, 2500, 4000, 4000})
	f(tr.share(m, hitsOf, requestsOf), []float64{50, 100, 250, 400}, []float64{0.5, 0.5, 0.5, 0.5})
	one := curveData{name: "p", samples: looksAt(7)}
	f(one.sum([]float64{0, 7}, writesOf), []float64{0, 7}, []float64{70, 70})
	f(one.share([]float64{0, 7}, hitsOf, requestsOf), nil, nil)
}

func TestFilterIsShownAsLastSeen(t *testing.T) {
	measured := 0.5
	tr := curveData{name: "p", samples: []counts{
		{},
		{requests: 10, filter: &filterState{fills: []float64{0.1, 0.2}, expected: 0.01}},
		{requests: 20, filter: &filterState{fills: []float64{0.3}, expected: 0.02, measured: &measured}},
	}}
	m := []float64{0, 5, 10, 19, 20}
	f := func(got page.Series, name string, x, y []float64) {
		t.Helper()
		if diff := cmp.Diff(page.Series{Name: name, X: x, Y: y}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	f(tr.state("e", m, func(s *filterState) *float64 { return &s.expected }), "p, e", []float64{10, 19, 20}, []float64{0.01, 0.01, 0.02})
	if got := tr.generations(); got != 2 {
		t.Errorf("generations: got %d, want 2", got)
	}
	rates := tr.rates(m)
	if len(rates) != 2 {
		t.Fatalf("got %d curves of rates, want expected and measured", len(rates))
	}
	f(rates[1], "p, measured", []float64{20}, []float64{0.5})
}

func TestLatencyCurveEndsWhereRequestsDo(t *testing.T) {
	tr := curveData{name: "p", tally: newTally()}
	if got := tr.latencies(); len(got.X) != 0 {
		t.Errorf("nothing sent: got %d points", len(got.X))
	}
	for i := range int64(1000) {
		_ = tr.tally.latency.RecordValue(1000 * (i + 1))
		tr.tally.ok++
	}
	got := tr.latencies()
	n := len(got.X)
	if n == 0 || got.X[n-1] != 1000 || got.X[1] != 2 {
		t.Fatalf("got points at one in %v, want 2 the second and 1000 the last", got.X)
	}
	if median, last := got.Y[1], got.Y[n-1]; median < 0.499 || median > 0.501 || last < 0.998 || last > 1.001 {
		t.Errorf("got median %vs, slowest in 1000 %vs; want 0.5, 0.999", median, last)
	}
}
