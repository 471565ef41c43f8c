package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/testkit"
	"edgeproxy/internal/trace"
)

// A workload that changes from run to run would make tables that cannot be compared.
func TestWorkloadsAreTheSameInEachRun(t *testing.T) {
	for _, w := range workloads() {
		if w.make == nil {
			continue
		}
		a, b := w.make(), w.make()
		if !slices.Equal(a.objects, b.objects) || !slices.Equal(a.accesses, b.accesses) {
			t.Errorf("%s: two runs differ", w.name)
		}
		total := int64(0)
		for _, o := range a.objects {
			total += o.Size
		}
		if total != a.unique || len(a.accesses) < 200_000 {
			t.Errorf("%s: %d bytes, %d counted, %d requests", w.name, total, a.unique, len(a.accesses))
		}
	}
}

// What changes in a workload is what its comment says.
func TestShiftsLeaveOneSetForAnother(t *testing.T) {
	r := shifts()
	for i, a := range r.accesses {
		if set := i / 60_000; int(a.Object)/20_000 != set {
			t.Fatalf("request %d is for object %d, want one of set %d", i, a.Object, set)
		}
	}
}

func TestScansAskTwiceForEachPageOfTheirs(t *testing.T) {
	times := map[uint32]int{}
	for _, a := range scans().accesses {
		if a.Object >= 20_000 {
			times[a.Object]++
		}
	}
	for page, n := range times {
		if n != 2 {
			t.Fatalf("page %d is asked for %d times, want 2", page, n)
		}
	}
	if len(times) != 50_000 {
		t.Errorf("got %d pages, want 50,000", len(times))
	}
}

// small is a workload worked by hand: room for two of three objects.
func small() *requests {
	r := &requests{objects: []trace.Object{{Size: 10}, {Size: 10}, {Size: 10}, {Size: 10}}, unique: 40}
	for _, i := range []uint32{0, 1, 2, 3, 0, 1, 0, 1, 2} {
		r.accesses = append(r.accesses, trace.Access{Object: i})
	}
	return r
}

func TestTheClairvoyantKeepsWhatIsAskedForNext(t *testing.T) {
	r := small()
	if got, want := r.after(), []int64{4, 5, 8, never, 6, 7, never, never, never}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	// With room for four times the largest, all fit. What is never asked for again is not stored.
	if got := r.foresee(80); got.hits != 5 || got.writes != 3 || got.hitBytes != 50 || got.writeBytes != 30 {
		t.Errorf("got %+v, want 5 hits and 3 writes", got)
	}
}

// What knows the future does better than what does not, or it is no bound.
func TestNothingBeatsTheClairvoyant(t *testing.T) {
	testkit.Slow(t, "it plays 300,000 requests seven times")
	r := shifts()
	c, err := r.column(context.Background(), "shifts", 5, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.outcomes) != len(evictions()) {
		t.Fatalf("got %d outcomes for %d evictions", len(c.outcomes), len(evictions()))
	}
	best := c.outcomes[len(c.outcomes)-1]
	for i, o := range c.outcomes {
		if o.hits > best.hits || o.hitBytes > best.hitBytes {
			t.Errorf("%s: got %d hits of %d bytes, the clairvoyant %d of %d", evictions()[i], o.hits, o.hitBytes, best.hits, best.hitBytes)
		}
		if o.requests != int64(len(r.accesses)) {
			t.Errorf("%s: got %d requests of %d", evictions()[i], o.requests, len(r.accesses))
		}
	}
}

// On real requests size-aware has more hits than the proxy's eviction today, with fewer writes, and no fewer bytes of hits.
func TestSizeAwareKeepsMoreOfWhatIsAskedForAgain(t *testing.T) {
	testkit.Slow(t, "it plays two traces")
	folder := testkit.Trace(t, "")
	for _, w := range workloads()[:3] {
		r, err := w.load(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.column(t.Context(), w.name, 5, 10)
		if err != nil {
			t.Fatal(err)
		}
		was, got := c.outcomes[0], c.outcomes[slices.Index(evictions(), "size-aware")]
		t.Logf("%s: ristretto %s; size-aware %s", w.name, was.text(), got.text())
		if percent(got.hits, got.requests) < percent(was.hits, was.requests)+0.5 || got.writes > was.writes ||
			percent(got.hitBytes, got.requestBytes) < percent(was.hitBytes, was.requestBytes)-0.5 {
			t.Errorf("%s: got %s, want more hits and fewer writes than %s", w.name, got.text(), was.text())
		}
	}
}

func TestTheTableHasARowForEachEviction(t *testing.T) {
	var outcomes []outcome
	for i := range evictions() {
		outcomes = append(outcomes, outcome{requests: 100, requestBytes: 1000, hits: int64(50 + i), hitBytes: 500, writes: 20, writeBytes: 2e6})
	}
	tab := table{share: 5, stage: 10, columns: []column{{"one", outcomes}, {"two", outcomes}}}
	got := tab.text()
	for i, e := range evictions() {
		want := fmt.Sprintf("%d.0 / 50.0, 20, 2", 50+i)
		if !strings.Contains(got, "\n"+e) || strings.Count(got, want) != 2 || !strings.Contains(got, fmt.Sprintf("%+.2f", float64(i))) {
			t.Errorf("%s: want a row with %q twice and %+d.00 in\n%s", e, want, i, got)
		}
	}
}

func TestWrongArgumentsAreSaid(t *testing.T) {
	for _, args := range [][]string{{}, {"--traces", "x", "y"}, {"--traces", "x", "--stage", "51"}, {"--stage", "NaN", "--traces", "x"}, {"--nope"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitUsage || errs.Len() == 0 {
			t.Errorf("%q: got exit code %d and %q, want %d and a message", args, code, errs.String(), exitUsage)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--traces", t.TempDir()}, &out, &errs); code != exitFailed || !strings.Contains(errs.String(), "adaptsize") {
		t.Errorf("no traces: got exit code %d and %q, want %d and the missing trace", code, errs.String(), exitFailed)
	}
}
