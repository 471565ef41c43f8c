package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/figures"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/test/testkit"
)

// A workload that changes from run to run would make tables that cannot be compared.
func TestWorkloadsAreTheSameInEachRun(t *testing.T) {
	for _, w := range workloads() {
		if w.Make == nil {
			continue
		}
		a, b := w.Make(), w.Make()
		if !slices.Equal(a.Objects, b.Objects) || !slices.Equal(a.Lifetimes, b.Lifetimes) || !slices.Equal(a.Accesses, b.Accesses) {
			t.Errorf("%s: two runs differ", w.Name)
		}
		total := int64(0)
		for _, o := range a.Objects {
			total += o.Size
		}
		if total != a.Unique || len(a.Accesses) < 200_000 {
			t.Errorf("%s: %d bytes, %d counted, %d requests", w.Name, total, a.Unique, len(a.Accesses))
		}
	}
}

// What changes in a workload is what its comment says.
func TestShiftsLeaveOneSetForAnother(t *testing.T) {
	r := shifts()
	for i, a := range r.Accesses {
		if set := i / 60_000; int(a.Object)/20_000 != set {
			t.Fatalf("request %d is for object %d, want one of set %d", i, a.Object, set)
		}
	}
}

func TestLifetimesAreOfAllKinds(t *testing.T) {
	r := lifetimes()
	times := map[float64]int{} // keys are seconds
	validated := 0
	for _, l := range r.Lifetimes {
		times[l.Fresh.Seconds()]++
		if l.Validates {
			validated++
		}
	}
	n := len(r.Objects)
	for fresh, got := range times {
		if got < n*3/10 || got > n*37/100 {
			t.Errorf("%d of %d objects are fresh for %v s, want a third", got, n, fresh)
		}
	}
	if len(times) != 3 || len(r.Lifetimes) != n || validated < n*6/10 || validated > n*7/10 {
		t.Errorf("got %d lifetimes of %d kinds, %d validated, want one for each object, of 3 kinds, two of three validated", len(r.Lifetimes), len(times), validated)
	}
	span := time.Duration(r.Accesses[len(r.Accesses)-1].At - r.Accesses[0].At)
	if span < 230*time.Minute || span > 250*time.Minute {
		t.Errorf("got %v, want 4 hours", span)
	}
}

func TestScansAskTwiceForEachPageOfTheirs(t *testing.T) {
	times := map[uint32]int{}
	for _, a := range scans().Accesses {
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

// What knows the future does better than what does not, or it is no bound.
func TestNothingBeatsTheClairvoyant(t *testing.T) {
	testkit.Slow(t, "it plays 300,000 requests seven times")
	r := requests{shifts()}
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
		if o.requests != int64(len(r.Accesses)) {
			t.Errorf("%s: got %d requests of %d", evictions()[i], o.requests, len(r.Accesses))
		}
	}
}

// On real requests size-aware has more hits than the proxy's eviction today, with fewer writes, and no fewer bytes of hits.
func TestSizeAwareKeepsMoreOfWhatIsAskedForAgain(t *testing.T) {
	testkit.Slow(t, "it plays two traces")
	folder := testkit.Trace(t, "")
	for _, w := range workloads()[:3] {
		r, err := load(t.Context(), w, folder)
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.column(t.Context(), w.Name, 5, 10)
		if err != nil {
			t.Fatal(err)
		}
		was, got := c.outcomes[0], c.outcomes[slices.Index(evictions(), model.SizeAware)]
		t.Logf("%s: ristretto %s; size-aware %s", w.Name, was.text(), got.text())
		if percent(got.hits, got.requests) < percent(was.hits, was.requests)+0.5 || got.writes > was.writes ||
			percent(got.hitBytes, got.requestBytes) < percent(was.hitBytes, was.requestBytes)-0.5 {
			t.Errorf("%s: got %s, want more hits and fewer writes than %s", w.Name, got.text(), was.text())
		}
	}
}

func TestTheTableHasARowForEachEviction(t *testing.T) {
	var outcomes []outcome
	for i := range evictions() {
		outcomes = append(outcomes, outcome{requests: 100, requestBytes: 1000, hits: int64(50 + i), hitBytes: 500, writes: 20, writeBytes: 2e6})
	}
	tab := table{share: 5, stage: 10, columns: []column{{"one", outcomes}, {"two", outcomes}}}
	got := textOf(t, tab.figures())
	for i, e := range evictions() {
		want := fmt.Sprintf("%d.0 / 50.0, 20, 2", 50+i)
		if !strings.Contains(got, "\n"+string(e)) || strings.Count(got, want) != 2 || !strings.Contains(got, fmt.Sprintf("%+.2f", float64(i))) {
			t.Errorf("%s: want a row with %q twice and %+d.00 in\n%s", e, want, i, got)
		}
	}
}

func TestTheTableOfDisksHasARowForEachEviction(t *testing.T) {
	var results []model.Result
	for i := range model.DiskEvictions() {
		results = append(results, model.Result{HitRatio: 0.5 + float64(i)/100, ByteHitRatio: 0.25, DiskWriteBytes: 3e6, WriteAmplification: 1.5})
	}
	tab := diskTable{share: 5, stage: 10, columns: []diskColumn{{"one", results}, {"two", results}}}
	got := textOf(t, tab.figures())
	for i, e := range model.DiskEvictions() {
		if want := fmt.Sprintf("%d.0 / 25.0, 3, 1.50", 50+i); !strings.Contains(got, "\n"+e.String()) || strings.Count(got, want) != 2 {
			t.Errorf("%s: want a row with %q twice in\n%s", e, want, got)
		}
	}
}

// The same requests give the same result, and a disk that keeps nothing that was hit has fewer hits.
func TestDisksAreComparedOverTheSameRequests(t *testing.T) {
	r := requests{shifts()}
	r.Accesses = r.Accesses[:90_000]
	got, err := r.disks(t.Context(), 5, 10)
	if err != nil {
		t.Fatal(err)
	}
	fifo := got[slices.Index(model.DiskEvictions(), model.DiskFIFO)]
	if got[0].Hits <= fifo.Hits || fifo.DiskRewrittenBytes > 0 || got[0].DiskWriteBytes == 0 {
		t.Errorf("got %+v and fifo %+v, want more hits than fifo, which writes nothing again", got[0], fifo)
	}
	for i, m := range got {
		if m.Requests != int64(len(r.Accesses)) {
			t.Errorf("%s: got %d requests of %d", model.DiskEvictions()[i], m.Requests, len(r.Accesses))
		}
	}
}

func TestWrongArgumentsAreSaid(t *testing.T) {
	for _, args := range [][]string{{}, {"--traces", "x", "y"}, {"--traces", "x", "--stage", "51"}, {"--stage", "NaN", "--traces", "x"}, {"--nope"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != command.Usage || errs.Len() == 0 {
			t.Errorf("%q: got exit code %d and %q, want %d and a message", args, code, errs.String(), command.Usage)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--traces", t.TempDir()}, &out, &errs); code != command.Failed || !strings.Contains(errs.String(), "adaptsize") {
		t.Errorf("no traces: got exit code %d and %q, want %d and the missing trace", code, errs.String(), command.Failed)
	}
}

func textOf(t *testing.T, table figures.Table) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
