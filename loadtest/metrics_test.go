package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/metrics"
)

// full is an exposition with every metric the driver needs.
const full = `edgeproxy_requests_total{route="default",result="hit",status="2xx"} 50
edgeproxy_requests_total{route="default",result="stale",status="2xx"} 3
edgeproxy_requests_total{route="default",result="revalidated",status="2xx"} 2
edgeproxy_requests_total{route="default",result="miss",status="2xx"} 20
edgeproxy_requests_total{route="default",result="held_back",status="2xx"} 10
edgeproxy_requests_total{route="default",result="pass",status="4xx"} 5
edgeproxy_requests_total{route="default",result="error",status="5xx"} 10
edgeproxy_response_bytes_total{route="default",result="hit"} 600
edgeproxy_response_bytes_total{route="default",result="miss"} 300
edgeproxy_response_bytes_total{route="default",result="error"} 100
edgeproxy_cache_writes_total{tier="memory"} 20
edgeproxy_cache_writes_total{tier="stage"} 9
edgeproxy_cache_write_bytes_total{tier="memory"} 300
edgeproxy_cache_write_bytes_total{tier="stage"} 90
edgeproxy_cache_promotions_total 4
edgeproxy_cache_held_back_total{route="default"} 10
edgeproxy_cache_held_back_bytes_total{route="default"} 200
edgeproxy_admission_regret_total{route="default"} 6
edgeproxy_admission_regret_total{route="-"} 1
edgeproxy_admission_regret_bytes_total{route="default"} 70
edgeproxy_origin_requests_total{origin="app",outcome="ok"} 40
edgeproxy_origin_requests_total{origin="app",outcome="connect"} 1
edgeproxy_origin_bytes_total{origin="app"} 700
edgeproxy_cache_evictions_total{tier="memory",reason="capacity"} 4
edgeproxy_cache_evictions_total{tier="memory",reason="rejected"} 1
`

func read(t *testing.T, text, name string, stageBytes int64) (counts, error) {
	t.Helper()
	e, err := metrics.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	rule, err := policy.RuleOf(name, 4)
	if err != nil {
		t.Fatal(err)
	}
	return countsIn(e, &edgeConfig{rule: rule, stageBytes: stageBytes})
}

func TestCountsFollowTheDefinitions(t *testing.T) {
	got, err := read(t, full, policyAlways, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := counts{
		requests: 100, hits: 55, passed: 5, failed: 10, responseBytes: 1000, hitBytes: 600, failedBytes: 100, writes: 20, writeBytes: 300,
		promotions: 4, heldBack: 10, heldBackBytes: 200, regret: new(int64(7)), regretBytes: new(int64(70)),
		originRequests: 41, originBytes: 700, evictions: 5,
	}
	private := cmp.AllowUnexported(counts{}, filterState{})
	if diff := cmp.Diff(want, got, private); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	staged, err := read(t, full, policySecondHit, 1)
	want.stageWrites, want.stageWriteBytes = 9, 90
	if diff := cmp.Diff(want, staged, private); diff != "" || err != nil {
		t.Errorf("counts with a stage (-want +got), error %v:\n%s", err, diff)
	}
	if h, b := got.hitRatio(), got.byteHitRatio(); h != 55.0/90 || b != 600.0/900 {
		t.Errorf("ratios %v, %v; want %v, %v: errors do not count", h, b, 55.0/90, 600.0/900)
	}
	zero := counts{regret: new(int64(0)), regretBytes: new(int64(0))}
	if diff := cmp.Diff(zero, staged.since(staged), private); diff != "" {
		t.Errorf("a look less itself:\n%s", diff)
	}
	if *staged.regret != 7 {
		t.Errorf("the look itself changed: regret %d, want 7", *staged.regret)
	}
	if r := (&counts{}).hitRatio(); r != 0 {
		t.Errorf("hit ratio of nothing: got %v, want 0", r)
	}
}

func TestEveryNeededMetricIsMissed(t *testing.T) {
	f := func(names, text string, stageBytes int64) {
		t.Helper()
		_, err := read(t, text, policySecondHit, stageBytes)
		var missing *missingError
		if !errors.As(err, &missing) || strings.Join(missing.names, " ") != names {
			t.Errorf("without %s: got error %v", names, err)
		}
	}
	for _, name := range []string{
		metricRequests, metricResponseBytes, metricWrites, metricWriteBytes, metricPromotions, metricHeldBack, metricHeldBackBytes,
		metricRegret, metricRegretBytes, metricOriginRequests, metricOriginBytes, metricEvictions,
	} {
		f(name, strings.NewReplacer(name+"{", "other{", name+" ", "other ").Replace(full), 0)
	}
	f(metricWrites, strings.ReplaceAll(full, `writes_total{tier="memory"`, `writes_total{tier="disk"`), 0)
	f(metricWrites+" "+metricWriteBytes, strings.ReplaceAll(full, `{tier="stage"`, `{tier="disk"`), 1)
	if _, err := read(t, strings.ReplaceAll(full, `{tier="stage"`, `{tier="disk"`), policySecondHit, 0); err != nil {
		t.Errorf("no stage, and none asked for: got %v", err)
	}
}

func TestFilterOfThePolicyIsRead(t *testing.T) {
	text := full + `edgeproxy_filter_fill_ratio{filter="counting",generation="0"} 0.125
edgeproxy_filter_fill_ratio{filter="counting",generation="1"} 0.5
edgeproxy_filter_fill_ratio{filter="second_hit",generation="0"} 0.75
edgeproxy_filter_false_positive_ratio{filter="counting",kind="measured"} 0.25
edgeproxy_filter_false_positive_ratio{filter="counting",kind="expected"} 0.375
edgeproxy_filter_false_positive_ratio{filter="counting",kind="expected_sampled"} 0.3125
edgeproxy_filter_false_positive_ratio{filter="second_hit",kind="expected"} 0.0625
`
	f := func(policy string, want *filterState) {
		t.Helper()
		got, err := read(t, text, policy, 0)
		if diff := cmp.Diff(want, got.filter, cmp.AllowUnexported(filterState{})); diff != "" || err != nil {
			t.Errorf("%s, error %v (-want +got):\n%s", policy, err, diff)
		}
		if after := got.since(got).filter; after != got.filter {
			t.Errorf("%s: a filter is as it is, not a difference: got %+v", policy, after)
		}
	}
	f(policyCounting, &filterState{fills: []float64{0.125, 0.5}, expected: 0.375, expectedOfSample: new(0.3125), measured: new(0.25)})
	f(policySecondHit, &filterState{fills: []float64{0.75}, expected: 0.0625})
	f(policyAlways, nil)
}

func TestDisagreementsNameBothSides(t *testing.T) {
	o := &origin{}
	o.requests.Store(40)
	o.bytes.Store(700)
	c := counts{requests: 99, responseBytes: 1000, originRequests: 41, originBytes: 700}
	got := c.disagreements("edgeproxy", &tally{ok: 90, errors: 10, bytes: 1000}, o)
	want := []string{"edgeproxy counted 99 requests, the driver sent 100", "edgeproxy counted 41 origin requests, the origin served 40"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressLinesComeSeldom(t *testing.T) {
	f := func(run time.Duration, want string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			d := driver{}
			d.done.Store(1234)
			m := newMeter(&out, "always", 5000, &d.done)
			time.Sleep(run)
			m.Close()
			if out.String() != want {
				t.Errorf("after %s: got %q, want %q", run, out.String(), want)
			}
		})
	}
	const line = "always: 1,234 of 5,000 requests\n"
	f(4*time.Second, "")
	f(12*time.Second, line+line)
}

func TestBarEndsWithTheRun(t *testing.T) {
	f := func(done int64) {
		t.Helper()
		d := driver{}
		d.done.Store(done)
		m := &meter{stop: make(chan struct{}), stopped: make(chan struct{})}
		go m.bar(&strings.Builder{}, "always", 10, &d.done)
		m.Close() // would hang on a bar that waits for its total
	}
	f(0)
	f(3)
	f(10)
}
