package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// facts are of a log with 1,000 bytes an object.
var facts = trace.Facts{Requests: 9000, Objects: 3000, UniqueBytes: 3_000_000}

// written writes every setting of the grid in one line.
func written(t *testing.T, g Grid) []string {
	t.Helper()
	groups, err := g.groups(facts, true)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, gr := range groups {
		for _, p := range gr.points {
			line := fmt.Sprintf("%s %d/%d %s", p.Eviction, p.StageBytes, p.CapacityBytes, p.name())
			if p.Policy.Remembers() {
				line += fmt.Sprintf(" %s %d %g", p.rotation, p.Generations, p.FalsePositiveRate)
			}
			out = append(out, line)
		}
	}
	return out
}

func TestGridIsEveryCombinationThatMakesSense(t *testing.T) {
	f := func(name string, g Grid, want ...string) {
		t.Helper()
		if len(g.Evictions) == 0 {
			g.Evictions = lru()
		}
		if diff := cmp.Diff(want, written(t, g)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	keys := Rotation{Unit: ByKeys, PerCached: 4}
	always, never := []admission.Policy{admission.Always}, []admission.Policy{admission.Never}
	second, counting := []admission.Policy{admission.SecondHit}, []admission.Policy{admission.Counting}

	f("always has neither rotation nor stage",
		Grid{Policies: always, Rotations: []Rotation{keys, {Unit: ByKeys, Count: 500}}, Stages: []Amount{{Percent: 10}}, Generations: []int{2, 3}},
		"lru 0/150000 always")
	f("nor has never", Grid{Policies: never, Stages: []Amount{{Percent: 10}}, Parameters: Parameters{"counting": {1, 2}}},
		"lru 0/150000 always", "lru 0/150000 never")
	f("the baseline comes first, also unasked", Grid{Policies: second, Rotations: []Rotation{keys}},
		"lru 0/150000 always", "lru 0/150000 second-hit at 600 keys (4c) 2 0.01")
	f("thresholds are counting's alone", Grid{Policies: append(second, counting...), Parameters: Parameters{"counting": {1, 4}}, Rotations: []Rotation{keys}},
		"lru 0/150000 always", "lru 0/150000 second-hit at 600 keys (4c) 2 0.01",
		"lru 0/150000 counting >1 at 600 keys (4c) 2 0.01", "lru 0/150000 counting >4 at 600 keys (4c) 2 0.01")
	f("each rotation is alone",
		Grid{Policies: second, Rotations: []Rotation{keys, {Unit: ByTime, Every: time.Hour}, {Unit: ByRequests, Count: 250}}},
		"lru 0/150000 always", "lru 0/150000 second-hit at 600 keys (4c) 2 0.01",
		"lru 0/150000 second-hit every 1h 2 0.01", "lru 0/150000 second-hit every 250 requests 2 0.01")
	f("generations and rates and stages multiply",
		Grid{Policies: second, Rotations: []Rotation{keys}, Generations: []int{2, 4}, FalsePositiveRates: []float64{0.01, 0.1}, Stages: []Amount{{}, {Bytes: 500}}},
		"lru 0/150000 always",
		"lru 0/150000 second-hit at 600 keys (4c) 2 0.01", "lru 0/150000 second-hit at 600 keys (4c) 2 0.1",
		"lru 0/150000 second-hit at 600 keys (4c) 4 0.01", "lru 0/150000 second-hit at 600 keys (4c) 4 0.1",
		"lru 500/150000 second-hit at 600 keys (4c) 2 0.01", "lru 500/150000 second-hit at 600 keys (4c) 2 0.1",
		"lru 500/150000 second-hit at 600 keys (4c) 4 0.01", "lru 500/150000 second-hit at 600 keys (4c) 4 0.1")
	f("sets have no rate, and may never forget",
		Grid{Policies: second, Exact: true, Rotations: []Rotation{{}, keys}, FalsePositiveRates: []float64{0.01, 0.1}, Generations: []int{2, 3}},
		"lru 0/150000 always", "lru 0/150000 second-hit never 0 0",
		"lru 0/150000 second-hit at 600 keys (4c) 2 0", "lru 0/150000 second-hit at 600 keys (4c) 3 0")
	f("capacity, eviction and rotation by C",
		Grid{Policies: second, Capacities: []Amount{{Percent: 10}, {Bytes: 900_000}}, Evictions: []model.Eviction{model.LRU, model.S3FIFO}, Rotations: []Rotation{{Unit: ByRequests, PerCached: 1}}},
		"lru 0/300000 always", "lru 0/300000 second-hit every 300 requests (1c) 2 0.01",
		"s3fifo 0/300000 always", "s3fifo 0/300000 second-hit every 300 requests (1c) 2 0.01",
		"lru 0/900000 always", "lru 0/900000 second-hit every 900 requests (1c) 2 0.01",
		"s3fifo 0/900000 always", "s3fifo 0/900000 second-hit every 900 requests (1c) 2 0.01")
	f("what is the same is run once",
		Grid{
			Policies: append(always, second...), Capacities: []Amount{{Percent: 5}, {Bytes: 150_000}},
			Rotations: []Rotation{keys, {Unit: ByKeys, Count: 600}, {Unit: ByKeys, Count: 3}, {Unit: ByKeys, Count: 100}},
		},
		"lru 0/150000 always", "lru 0/150000 second-hit at 600 keys (4c) 2 0.01", "lru 0/150000 second-hit at 100 keys (raised) 2 0.01")
}

func TestDefaultsAskWhatNobodySaid(t *testing.T) {
	f := func(name string, g Grid, wantSettings int, wantPart string) {
		t.Helper()
		got := written(t, g)
		if len(got) != wantSettings || !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, wantPart) }) {
			t.Errorf("%s: got %d settings, want %d and one with %q:\n%s", name, len(got), wantSettings, wantPart, strings.Join(got, "\n"))
		}
	}
	f("nothing said: second-hit and three of counting, with the stage and without", Grid{}, 1+2*(1+3), "size-aware 15000/150000 counting >4 auto 2 0.01")
	f("the proxy's own stage leaves the largest object its room", Grid{MaxObjects: []int64{35_000}}, 1+2*(1+3), "size-aware 10000/150000 second-hit auto")
	f("a number of sightings said: that one", Grid{Parameters: Parameters{"counting": {9}}}, 1+2*(1+1), "size-aware 0/150000 counting >9 auto 2 0.01")
	f("another parameter said", Grid{Parameters: Parameters{"chance": {0.5}}}, 1+2*(1+3), "size-aware 0/150000 counting >2 auto 2 0.01")
	f("a policy said: no stage", Grid{Policies: []admission.Policy{admission.SecondHit}}, 1+4, "size-aware 0/150000 second-hit at 150 keys (1c)")
	f("a policy said: the proxy's own window is among them", Grid{Policies: []admission.Policy{admission.Counting}}, 1+4, "size-aware 0/150000 counting >4 auto 2 0.01")
	f("a rotation said: three policies", Grid{Rotations: []Rotation{{Unit: Fitted}}}, 1+1+1, "size-aware 0/150000 counting >4 auto 2 0.01")
	f("sets said: no stage, and never too", Grid{Exact: true}, 1+5+5, "size-aware 0/150000 second-hit never")
	f("a stage said: that one", Grid{Stages: []Amount{{Percent: 1}}}, 1+1+3, "size-aware 1500/150000 second-hit")
	f("another capacity: as with nothing said", Grid{Capacities: []Amount{{Percent: 1}, {Percent: 10}}}, 1+4+1+8, "size-aware 30000/300000 ")
	if got := written(t, Grid{}); got[1] != "size-aware 15000/150000 second-hit auto 2 0.01" {
		t.Errorf("got %s behind the baseline, want what the proxy does by default", got[1])
	}
}

func TestBaselineIsHiddenUnlessAskedFor(t *testing.T) {
	for _, p := range []admission.Policy{admission.Always, admission.SecondHit} {
		groups, err := Grid{Policies: []admission.Policy{p}}.groups(facts, true)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := groups[0].onlyBaseline, p != admission.Always; got != want {
			t.Errorf("%v alone: got hidden %v, want %v", p, got, want)
		}
	}
}

func TestLargestObjectOfAGroup(t *testing.T) {
	f := func(limit int64, e model.Eviction, want int64) {
		t.Helper()
		groups, err := Grid{MaxObjects: []int64{limit}, Evictions: []model.Eviction{e}}.groups(facts, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := groups[0].maxObject; got != want {
			t.Errorf("limit %d under %s: got %d, want %d", limit, e, got, want)
		}
	}
	f(0, model.LRU, 37_500) // a quarter, as in the proxy
	f(20_000, model.S3FIFO, 20_000)
	f(1<<40, model.LRU, 150_000)
	f(0, model.Ristretto, 37_500)
	f(20_000, model.Ristretto, 20_000)
}

// Where the default of the proxy changes, that of simulate has to follow.
func TestTheDefaultEvictionIsThatOfTheProxy(t *testing.T) {
	if got, want := string(model.Default), config.Default().Cache.Memory.Eviction.String(); got != want {
		t.Errorf("got %s, want %s as in the configuration", got, want)
	}
}

// TestADefaultThatTheProxyDoesNotHave: without --eviction simulate evicted by LRU, and the proxy by Ristretto.
func TestADefaultThatTheProxyDoesNotHave(t *testing.T) {
	f := func(g Grid, want ...model.Eviction) {
		t.Helper()
		groups, err := g.groups(facts, true)
		if err != nil {
			t.Fatal(err)
		}
		var got []model.Eviction
		for _, gr := range groups {
			got = append(got, gr.eviction)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", g, got, want)
		}
	}
	f(Grid{}, model.Default)
	f(Grid{Capacities: []Amount{{Bytes: 64 << 10}, {Bytes: 64<<10 - 1}}}, model.Default, model.LRU) // which it does not take
	f(Grid{Capacities: []Amount{{Bytes: 1 << 20}}, Disks: []Amount{{Bytes: 8 << 20}}}, model.Default)
	f(Grid{Evictions: []model.Eviction{model.S3FIFO, model.LRU}}, model.S3FIFO, model.LRU)
}

// TestALimitOfObjectsThatTheProxyRefuses: with LRU objects up to --max-object were stored, of which the proxy's check refuses each above a quarter.
func TestALimitOfObjectsThatTheProxyRefuses(t *testing.T) {
	const mib = 1 << 20
	f := func(g Grid, memory, disk int64, want string) {
		t.Helper()
		g.Policies = []admission.Policy{admission.SecondHit}
		groups, err := g.groups(facts, true)
		switch {
		case want == "" && (err != nil || groups[0].points[1].MaxObjectBytes != memory || groups[0].points[1].DiskObjectBytes != disk):
			t.Errorf("%+v: got %+v, %v, want objects up to %d and %d bytes", g, groups, err, memory, disk)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%+v: got %v, want %q", g, err, want)
		}
	}
	for _, e := range []model.Eviction{"", model.LRU, model.S3FIFO, model.Ristretto} {
		var evictions []model.Eviction
		if e != "" {
			evictions = []model.Eviction{e}
		}
		of := func(limit, memory, stage, disk int64) Grid {
			return Grid{
				MaxObjects: []int64{limit}, Capacities: []Amount{{Bytes: memory}}, Stages: []Amount{{Bytes: stage}},
				Disks: []Amount{{Bytes: disk}}, Evictions: evictions,
			}
		}
		f(of(0, 16*mib, 0, 0), 4*mib, 0, "")
		f(of(4*mib, 16*mib, 0, 0), 4*mib, 0, "")
		f(of(4*mib+1, 16*mib, 0, 0), 0, 0, "max-object 4194305 bytes: must be at most 4194304 bytes, a quarter of the capacity without the stage, as the proxy")
		f(of(3*mib, 16*mib, 4*mib, 0), 3*mib, 0, "")
		f(of(3*mib+1, 16*mib, 4*mib, 0), 0, 0, "must be at most 3145728 bytes")
		// With a disk the limit is the disk's; in memory it is that of the proxy's default.
		f(of(0, 16*mib, 0, 64*mib), 4*mib, 8*mib, "")
		f(of(mib, 16*mib, 0, 64*mib), mib, mib, "")
		f(of(8*mib, 16*mib, 0, 64*mib), 4*mib, 8*mib, "")
		f(of(8*mib+1, 16*mib, 0, 64*mib), 0, 0, "must be at most 8388608 bytes, an eighth of the disk, as the proxy")
		// Other simulators know no limit.
		if e == model.LRU || e == model.S3FIFO {
			f(of(1<<40, 16*mib, 0, 0), 16*mib, 0, "")
			f(of(64*mib, 16*mib, 4*mib, 64*mib), 12*mib, 8*mib, "")
		} else {
			f(of(1<<40, 16*mib, 0, 0), 0, 0, "must be at most 4194304 bytes")
		}
	}
}

func TestGridThatCannotWorkSaysWhy(t *testing.T) {
	f := func(g Grid, facts trace.Facts, hasTimes bool, want string) {
		t.Helper()
		_, err := g.groups(facts, hasTimes)
		if _, ok := errors.AsType[*GridError](err); !ok || err.Error() != want {
			t.Errorf("got %v, want a GridError %q", err, want)
		}
	}
	hour := Rotation{Unit: ByTime, Every: time.Hour}
	f(Grid{Rotations: []Rotation{hour}}, facts, false,
		"rotate-every 1h: must be a log with times, in 99 of 100 lines; this one has none or too few, so give --rotate-keys or --rotate-requests")
	f(Grid{Rotations: []Rotation{{}}}, facts, true, "rotation never: must be a rotation, or --exact: a filter that never forgets fills up")
	f(Grid{Stages: []Amount{{Bytes: 76_000}}}, facts, true, "stage 74 KiB: must be at most half of the capacity, here 73 KiB")
	f(Grid{Capacities: []Amount{{Percent: 5}}}, trace.Facts{Requests: 1, Objects: 1, UniqueBytes: 10}, true,
		"capacity 5%: must be more than 0 bytes, such as a size; this log has 10 unique bytes")
	many := Grid{Generations: []int{2, 3, 4}, FalsePositiveRates: make([]float64, 28)}
	f(many, facts, true, "grid of 673 settings: must be at most 500; give fewer values to try")
	// However many that were, they are not multiplied out.
	huge := Grid{Generations: make([]int, 1e5), FalsePositiveRates: make([]float64, 1e5), Capacities: make([]Amount, 1e5)}
	f(huge, facts, true, "grid of "+fmt.Sprintf("%.0f", 1e5*(1+4*2*1e10))+" settings: must be at most 500; give fewer values to try")
}

func TestCountOfSettingsIsTheirNumber(t *testing.T) {
	for _, g := range []Grid{
		{},
		{Exact: true},
		{Policies: []admission.Policy{admission.Never, admission.Counting}, Parameters: Parameters{"counting": {1, 2, 3}}},
		{Generations: []int{2, 3}, FalsePositiveRates: []float64{0.1, 0.2}, Capacities: []Amount{{Percent: 2}, {Percent: 10}}},
		{Disks: []Amount{{}, {Bytes: 4 << 20}, {Bytes: 5 << 20}}},
	} {
		if got, want := g.defaults().count(), float64(len(written(t, g))); got != want {
			t.Errorf("%+v: got %v settings, want %v", g, got, want)
		}
	}
}
