package simulate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// everything is a grid with every kind of setting.
func everything() Grid {
	return Grid{
		Policies:   []admission.Policy{admission.SecondHit, admission.Counting, admission.Never},
		Parameters: Parameters{"counting": {2}},
		Capacities: []Amount{{Percent: 5}, {Percent: 20}},
		Rotations:  []Rotation{{Unit: ByKeys, PerCached: 2}, {Unit: ByRequests, Count: 1500}},
		Stages:     []Amount{{}, {Percent: 10}},
		Evictions:  lru(),
	}
}

// Whatever the workers and the memory, each setting sees all requests in order.
func TestResultsDoNotDependOnHowTheyAreRun(t *testing.T) {
	tr := zipf(t, 10_000)
	want := replayed(t, tr, everything())
	f := func(name string, workers, chunk int, bytes int64) {
		t.Helper()
		groups, err := everything().groups(tr.Facts(), tr.HasTimes())
		if err != nil {
			t.Fatal(err)
		}
		r := &run{trace: tr, groups: groups, options: Options{Workers: workers, Clock: ticks()}, chunk: chunk, waveBytes: bytes}
		if err := errors.Join(r.countPeriods(t.Context()), r.replay(t.Context())); err != nil {
			t.Fatal(err)
		}
		ignore := cmpopts.IgnoreFields(Result{}, "RequestsPerSecond")
		if diff := cmp.Diff(want, r.report(), cmp.AllowUnexported(Report{}, Group{}, Result{}, Rotation{}), ignore); diff != "" {
			t.Errorf("%s: (-one worker, one wave +these):\n%s", name, diff)
		}
	}
	f("four workers", 4, defaultChunk, waveBytes)
	f("many chunks", 2, 1000, waveBytes)
	f("a wave for each setting", 2, defaultChunk, 1)
	f("waves of some", 2, defaultChunk, 100*tr.Facts().Objects)
}

func TestEverySettingIsReplayedInFull(t *testing.T) {
	r := replayed(t, zipf(t, 10_000), everything())
	for _, g := range r.Groups {
		always := g.Results[0]
		if always.Policy != "always" || always.WritesAvoided != 0 || always.extraBytes != 0 {
			t.Errorf("first of the group: got %+v, want always, compared with itself", always)
		}
		for _, res := range g.Results {
			if res.Requests != 10_000 || res.Hits+res.OriginRequests != res.Requests {
				t.Errorf("%s: got %d requests, %d hits and %d of the origin, want 10000, the sum of both", res.describe(), res.Requests, res.Hits, res.OriginRequests)
			}
			if res.Writes+res.WritesAvoided != always.Writes || res.WriteBytes+res.WriteBytesAvoided != always.WriteBytes {
				t.Errorf("%s: got %d writes and %d avoided, want %d in all", res.describe(), res.Writes, res.WritesAvoided, always.Writes)
			}
			if res.OriginBytes-res.extraBytes != always.OriginBytes {
				t.Errorf("%s: got %d origin bytes, %d above always' %d", res.describe(), res.OriginBytes, res.extraBytes, always.OriginBytes)
			}
		}
	}
}

func TestProgressCountsUpToTheEnd(t *testing.T) {
	tr := zipf(t, 15_000)
	for _, bytes := range []int64{waveBytes, 1} {
		second := []admission.Policy{admission.SecondHit}
		groups, err := Grid{Policies: second, Rotations: []Rotation{{Unit: ByKeys, Count: 500}}, Evictions: lru()}.groups(tr.Facts(), false)
		if err != nil {
			t.Fatal(err)
		}
		var seen []int64
		total := int64(0)
		o := Options{Workers: 2, Clock: ticks(), Progress: func(done, of int64) { seen, total = append(seen, done), of }}
		r := &run{trace: tr, groups: groups, options: o, chunk: 5000, waveBytes: bytes}
		if err := r.replay(t.Context()); err != nil {
			t.Fatal(err)
		}
		waves := int64(1)
		if bytes == 1 {
			waves = 2 // always and second-hit
		}
		if !slices.IsSorted(seen) || len(seen) < 3 || seen[len(seen)-1] != total || total != waves*15_000 {
			t.Errorf("%d waves: got %v of %d, want it to rise to all of %d", waves, seen, total, waves*15_000)
		}
	}
}

// stopper ends the context when it is handed requests.
type stopper struct{ stop context.CancelFunc }

func (s stopper) replay([]trace.Access) { s.stop() }

// counter counts the requests.
type counter struct{ n int }

func (c *counter) replay(requests []trace.Access) { c.n += len(requests) }

func TestEndOfTheContextEndsTheReplay(t *testing.T) {
	tr := zipf(t, 30_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var c counter
	err := newRunnerPool([]runner{stopper{cancel}, &c}, 1, 4000, ticks()).run(ctx, tr, nil)
	if !errors.Is(err, context.Canceled) || c.n > 0 {
		t.Errorf("got %v after %d requests, want it to end with the context, at once", err, c.n)
	}
	if _, err := Run(ctx, tr, Grid{}, Options{Workers: 1, Clock: ticks()}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: got %v, want the end of the context", err)
	}
	timed := Grid{Rotations: []Rotation{{Unit: ByTime, Every: time.Hour}}}
	if _, err := Run(ctx, tiny(t), timed, Options{Workers: 1, Clock: ticks()}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a census: got %v, want the end of the context", err)
	}
}

func TestSettingThatNoModelTakesIsNamed(t *testing.T) {
	g := Grid{Policies: []admission.Policy{admission.SecondHit}, Generations: []int{9}}
	_, err := Run(t.Context(), tiny(t), g, Options{Workers: 1, Clock: ticks()})
	if err == nil || !strings.HasPrefix(err.Error(), "set up second-hit: ") || !strings.Contains(err.Error(), "generations: 9") {
		t.Errorf("got %v, want the model's error, and whose it is", err)
	}
}

// A filter that is rotated by time is that of the recommended lines, not one
// with room for the whole log.
func TestFilterRotatedByTimeHasTheSizeOfItsBusiestPeriod(t *testing.T) {
	tr := tiny(t)
	g := Grid{Policies: []admission.Policy{admission.SecondHit}, Rotations: []Rotation{{Unit: ByTime, Every: 10 * time.Minute}}}
	groups, err := g.groups(tr.Facts(), tr.HasTimes())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{trace: tr, groups: groups, options: Options{Workers: 1, Clock: ticks()}, chunk: defaultChunk, waveBytes: waveBytes}
	if err := r.countPeriods(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := r.points()[1]
	if p.RotateEvery != 10*time.Minute || p.RotateKeys != r.periods[0].peakWithHeadroom() || p.RotateKeys >= tr.Facts().Objects {
		t.Errorf("got %v and %d keys, want 10m and %d, fewer than the %d objects", p.RotateEvery, p.RotateKeys, r.periods[0].peakWithHeadroom(), tr.Facts().Objects)
	}
	if always := r.points()[0]; always.RotateKeys != 0 {
		t.Errorf("always: got a filter of %d keys, want none", always.RotateKeys)
	}
}

func TestSpeedIsRequestsForTheTimeOfOneSetting(t *testing.T) {
	r := replayed(t, zipf(t, 70_000), Grid{Policies: []admission.Policy{admission.Always}})
	// Two chunks, a millisecond each.
	if got := r.Groups[0].Results[0].RequestsPerSecond; got != 70_000/0.002 {
		t.Errorf("got %v requests a second, want %v", got, 70_000/0.002)
	}
}

// However many settings there are, those that run together fit the memory, and a
// tier of the proxy's own counts with its sketch.
func TestWavesKeepToTheMemory(t *testing.T) {
	tr := zipf(t, 10_000)
	g := everything()
	g.Evictions = []model.Eviction{model.LRU, model.Ristretto}
	groups, err := g.groups(tr.Facts(), false)
	if err != nil {
		t.Fatal(err)
	}
	const most = 30 << 20
	r := &run{trace: tr, groups: groups, waveBytes: most}
	points := r.points()
	together := 0
	for _, wave := range r.waves(points) {
		bytes := int64(0)
		for _, p := range wave {
			bytes += p.Memory(len(tr.Objects()), tr.Facts().UniqueBytes)
		}
		if len(wave) > 1 && bytes > most {
			t.Errorf("got %d settings of %d bytes at a time, want at most %d bytes", len(wave), bytes, most)
		}
		if !slices.Equal(wave, points[together:together+len(wave)]) {
			t.Errorf("got a wave that is not the next %d settings in order", len(wave))
		}
		together += len(wave)
	}
	if n := len(r.waves(points)); together != len(points) || n < 3 || n > len(points)/2 {
		t.Errorf("got %d of %d settings in %d waves, want all, in several", together, len(points), n)
	}
}

// Where victims are chosen by chance a reader must know how much of a difference
// is none.
func TestRistrettoHasASpreadAndTheOthersHaveNone(t *testing.T) {
	r := replayed(t, zipf(t, 20_000), Grid{
		Policies:  []admission.Policy{admission.SecondHit},
		Evictions: []model.Eviction{model.LRU, model.Ristretto}, Rotations: []Rotation{{Unit: ByKeys, Count: 500}},
	})
	if got := r.Groups[0].Spread; got != nil {
		t.Errorf("lru: got %+v, want none", got)
	}
	s := r.Groups[1].Spread
	if s == nil || s.Runs != 3 || s.HitRatio+s.ByteHitRatio+s.Writes <= 0 || s.HitRatio > 0.05 || s.Writes > 0.1 {
		t.Fatalf("ristretto: got %+v, want that of 3 runs, some and little", s)
	}
	if got, want := len(r.Groups[1].Results), 2; got != want {
		t.Errorf("ristretto: got %d results, want %d, no repeats among them", got, want)
	}
	if got := text(t, r, "zipf:"); !strings.Contains(got, "evicts by chance, so no two runs are the same: in 3 of always the hit ratios differed by up to ") {
		t.Errorf("got\n%s\nwant the spread in it", got)
	}
}
