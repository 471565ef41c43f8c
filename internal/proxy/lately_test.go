package proxy

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/statusclass"
)

// What goes wrong now is not hidden by what went well for a week.
func TestLatelyIsOnlyWhatCameSince(t *testing.T) {
	p := &Proxy{}
	p.Metrics = NewMetrics(prometheus.NewRegistry(), MetricsOptions{RouteLabel: true})
	shop, gone := p.Metrics.forRoute("shop"), p.Metrics.forRoute("gone")
	count := func(r *routeMetrics, as result, status int, n int64, took time.Duration) {
		r.requests[as][statusclass.Of(status)].Add(n)
		for range n {
			r.duration[as].observe(took)
		}
	}
	count(shop, resultHit, 200, 10_000, time.Millisecond)
	count(gone, resultHit, 200, 1000, time.Millisecond)
	shop.fills.heldBack.Add(50)
	before := p.Counts()
	hour := before.Avoided()
	count(shop, resultHit, 200, 30, 80*time.Microsecond)
	count(shop, resultMiss, 200, 26, 400*time.Microsecond)
	count(shop, resultError, 502, 42, 20*time.Millisecond)
	count(shop, resultError, 0, 2, time.Minute)
	count(gone, resultPass, 200, 100, 80*time.Microsecond)
	shop.fills.heldBack.Add(9)
	shop.fills.heldBackBytes.Add(900)
	shop.fills.regret.Add(2)
	p.Metrics.inForce([]*route{{Route: &Route{Name: "shop"}}}) // it keeps its series, and its counts
	now := p.Counts()

	one, was := now.routes["shop"], before.routes["shop"]
	got := one.lately(&was, 50*time.Second)
	if got.Requests != 100 || got.RequestRate != 2 || got.Errors != 44 || got.ErrorRatio != 0.44 {
		t.Errorf("got %+v, want 100 requests, 44 of them errors", got)
	}
	if want := 30.0 / 56; math.Abs(got.HitRatio-want) > 1e-9 {
		t.Errorf("got a hit ratio of %v, want %v", got.HitRatio, want)
	}
	if got.Classes["2xx"] != 56 || got.Classes["5xx"] != 42 || got.Classes["none"] != 2 {
		t.Errorf("got %v", got.Classes)
	}
	for name, is := range map[string][3]float64{"p50": {got.P50, 250e-6, 500e-6}, "p95": {got.P95, 10e-3, 25e-3}, "p99": {got.P99, 30, 30}} {
		if is[0] < is[1] || is[0] > is[2] {
			t.Errorf("%s: got %v, want %v to %v", name, is[0], is[1], is[2])
		}
	}
	if all := now.all.lately(&before.all.tally, 50*time.Second); all.Requests != 200 || all.ErrorRatio != 0.22 {
		t.Errorf("of all: got %+v, want 200 requests", all)
	}
	if got, want := now.Avoided().routes["shop"].since(hour.routes["shop"]), (Avoided{Saved: 7, SavedBytes: 900, Regret: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLatelyOfNothing(t *testing.T) {
	var none tally
	for _, over := range []time.Duration{0, time.Minute} {
		got := none.lately(&tally{}, over)
		if got.Requests != 0 || got.RequestRate != 0 || got.HitRatio != 0 || got.ErrorRatio != 0 || got.P99 != 0 || len(got.Classes) != statusclass.Count {
			t.Errorf("over %v: got %+v", over, got)
		}
	}
	some := tally{classes: statusclass.Counts{statusclass.Success: 9}}
	if got := some.lately(&tally{}, 0); got.Requests != 0 {
		t.Errorf("without a time before: got %d requests, want 0", got.Requests)
	}
}
