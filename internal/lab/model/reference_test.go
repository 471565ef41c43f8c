package model

import (
	"context"
	"fmt"
	"math"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// recorded is a trace in memory, with every object as large as 1 byte at least.
type recorded struct {
	objects  []trace.Object
	accesses []trace.Access
	mean     float64 // bytes of an object
}

func read(t *testing.T, name string) recorded {
	t.Helper()
	tr, err := trace.Read(context.Background(), []string{testkit.Trace(t, name)}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	r := recorded{objects: tr.Objects()}
	for i := range r.objects {
		r.objects[i].Size = max(r.objects[i].Size, 1)
	}
	r.mean = float64(uniqueBytes(r.objects)) / float64(len(r.objects))
	if r.accesses, err = tr.All(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// figures are hit ratios in percent and writes, as the reference prints them.
type figures struct {
	hits, bytes float64
	writes      int64
}

// staged are hit ratios in percent and the change of writes into the main part
// against always, in percent.
type staged struct{ hits, bytes, writes float64 }

// reference is a row of values of another simulator, made with exact sets and
// exact LRU. C is how many objects of mean size the capacity holds.
type reference struct {
	capacity  int64
	always    figures
	unlimited figures // second-hit that never forgets
	requests  figures // second-hit, two generations of 4 C requests
	keys      figures // second-hit, two generations of C keys
	counting  figures // more than 4 sightings, never forgotten
	stage1    staged  // requests with a stage of 1 % of the capacity
	stage10   staged  // requests with a stage of 10 %
}

// minPeriod is the shortest rotation period the reference used.
const minPeriod = 100

func TestReferenceAdaptsize(t *testing.T) {
	testkit.Plain(t, "one goroutine replays a trace")
	referenceTable(t, "adaptsize.tr", []reference{
		{
			capacity: 2_804_312,
			always:   figures{24.49, 29.17, 50582}, unlimited: figures{24.82, 28.15, 13547},
			requests: figures{22.41, 26.30, 5976}, keys: figures{21.47, 25.75, 5079}, counting: figures{22.80, 25.20, 2876},
			stage1: staged{24.50, 27.24, -88.2}, stage10: staged{26.40, 30.07, -87.9},
		},
		{
			capacity: 14_021_562,
			always:   figures{31.27, 34.62, 46040}, unlimited: figures{31.78, 33.32, 8883},
			requests: figures{30.87, 32.54, 5897}, keys: figures{30.19, 32.04, 4844}, counting: figures{24.95, 26.80, 1440},
			stage1: staged{33.81, 35.15, -87.1}, stage10: staged{34.92, 37.22, -86.9},
		},
		{
			capacity: 56_086_248,
			always:   figures{38.53, 39.92, 41176}, unlimited: figures{34.66, 35.27, 6957},
			requests: figures{34.49, 35.16, 6698}, keys: figures{33.62, 34.57, 5683}, counting: figures{24.95, 26.80, 1440},
			stage1: staged{38.08, 38.43, -83.7}, stage10: staged{39.29, 40.38, -83.7},
		},
	})
}

func TestReferenceNASA(t *testing.T) {
	referenceTable(t, "nasa-1995-08-01.tsv", []reference{
		{
			capacity: 1_093_593,
			always:   figures{52.64, 16.70, 14336}, unlimited: figures{55.43, 17.39, 11755},
			requests: figures{64.25, 20.94, 1423}, keys: figures{65.08, 21.57, 2157}, counting: figures{60.56, 19.75, 7542},
			stage1: staged{64.63, 20.88, -90.0}, stage10: staged{64.52, 20.56, -89.3},
		},
		{
			capacity: 5_467_965,
			always:   figures{72.61, 33.89, 8298}, unlimited: figures{74.98, 35.48, 5842},
			requests: figures{78.99, 36.89, 898}, keys: figures{79.13, 36.79, 702}, counting: figures{77.39, 35.57, 2446},
			stage1: staged{79.25, 37.01, -88.8}, stage10: staged{79.19, 37.88, -88.2},
		},
		{
			capacity: 21_871_863,
			always:   figures{86.25, 55.33, 4165}, unlimited: figures{86.27, 54.52, 2420},
			requests: figures{86.67, 54.97, 938}, keys: figures{86.49, 55.03, 921}, counting: figures{83.27, 46.83, 665},
			stage1: staged{87.05, 55.51, -77.3}, stage10: staged{87.09, 56.88, -75.9},
		},
	})
}

func TestReferenceApache(t *testing.T) {
	referenceTable(t, "apache-combined-2015.log", []reference{
		{
			capacity: 5_612_777,
			always:   figures{59.13, 4.61, 3835}, unlimited: figures{58.93, 4.59, 2479},
			requests: figures{61.22, 4.91, 537}, keys: figures{61.80, 5.52, 677}, counting: figures{60.00, 4.81, 1038},
			stage1: staged{61.88, 4.94, -86.0}, stage10: staged{63.21, 4.94, -85.1},
		},
		{
			capacity: 28_063_888,
			always:   figures{74.05, 10.59, 2422}, unlimited: figures{73.97, 10.71, 1051},
			requests: figures{71.15, 9.59, 429}, keys: figures{69.75, 9.07, 337}, counting: figures{68.28, 8.79, 252},
			stage1: staged{71.84, 9.61, -82.9}, stage10: staged{73.39, 9.74, -82.5},
		},
		{
			capacity: 112_255_552,
			always:   figures{69.33, 42.22, 2925}, unlimited: figures{69.75, 49.55, 1498},
			requests: figures{69.32, 53.76, 1004}, keys: figures{70.38, 52.19, 791}, counting: figures{66.07, 50.87, 496},
			stage1: staged{70.96, 52.65, -65.4}, stage10: staged{72.82, 48.56, -57.6},
		},
	})
}

func referenceTable(t *testing.T, name string, rows []reference) {
	t.Helper()
	r := read(t, name)
	for _, row := range rows {
		t.Run(fmt.Sprint(row.capacity), func(t *testing.T) { row.check(t, r) })
	}
}

func (row reference) check(t *testing.T, r recorded) {
	t.Helper()
	held := float64(row.capacity) / r.mean // C, not rounded: the stage columns took it so
	whole := int64(held)
	s := exactSecondHit(row.capacity)
	s.RotateRequests = 0
	always, counting, unlimited, requests, keys := s, s, s, s, s
	always.Policy = admission.Always
	counting.Policy, counting.MoreThan = admission.Counting, 4
	requests.RotateRequests = max(4*whole, minPeriod)
	keys.RotateKeys = max(whole, minPeriod)

	base := row.exactly(t, r, "always", always, row.always)
	row.exactly(t, r, "second-hit, unlimited", unlimited, row.unlimited)
	row.exactly(t, r, "4 C requests", requests, row.requests)
	row.exactly(t, r, "C keys", keys, row.keys)
	row.exactly(t, r, "more than 4, unlimited", counting, row.counting)
	row.filtered(t, r, "4 C requests", requests, base)
	row.filtered(t, r, "C keys", keys, base)

	requests.RotateRequests = max(int64(4*held), minPeriod)
	requests.StageBytes = row.capacity / 100
	row.stages(t, r, "1 % stage", requests, base, row.stage1)
	requests.StageBytes = row.capacity / 10
	row.stages(t, r, "10 % stage", requests, base, row.stage10)
}

// exactly wants the printed figures to the last digit.
func (row reference) exactly(t *testing.T, r recorded, name string, s Setting, want figures) Result {
	t.Helper()
	got := play(t, s, r.objects, r.accesses)
	if percent(got.HitRatio) != want.hits || percent(got.ByteHitRatio) != want.bytes || got.Writes != want.writes {
		t.Errorf("%s: got %.2f %% hits, %.2f %% of bytes, %d writes; want %+v",
			name, 100*got.HitRatio, 100*got.ByteHitRatio, got.Writes, want)
	}
	return got
}

// stages wants the figures with a stage to the last digit.
func (row reference) stages(t *testing.T, r recorded, name string, s Setting, base Result, want staged) {
	t.Helper()
	got := play(t, s, r.objects, r.accesses)
	change := 100 * float64(got.Writes-base.Writes) / float64(base.Writes)
	if percent(got.HitRatio) != want.hits || percent(got.ByteHitRatio) != want.bytes || math.Round(change*10)/10 != want.writes {
		t.Errorf("%s: got %.2f %% hits, %.2f %% of bytes, writes %+.1f %%; want %+v",
			name, 100*got.HitRatio, 100*got.ByteHitRatio, change, want)
	}
}

// filtered wants with filters the writes of exact sets, and more by no more than
// the false positives of what always would have written; and nearly the hits.
func (row reference) filtered(t *testing.T, r recorded, name string, s Setting, base Result) {
	t.Helper()
	exact := play(t, s, r.objects, r.accesses)
	s.Exact, s.FalsePositiveRate = false, 0.01
	got := play(t, s, r.objects, r.accesses)
	limit := s.FalsePositiveRate * float64(base.Writes)
	if more := float64(got.Writes - exact.Writes); math.Abs(more) > limit {
		t.Errorf("%s with filters: got %d writes, want %d within %.0f", name, got.Writes, exact.Writes, limit)
	}
	if d := 100 * math.Abs(got.HitRatio-exact.HitRatio); d > 0.3 {
		t.Errorf("%s with filters: got %.2f %% hits, want %.2f within 0.3", name, 100*got.HitRatio, 100*exact.HitRatio)
	}
}

// percent rounds a ratio as the reference was printed.
func percent(ratio float64) float64 { return math.Round(ratio*10000) / 100 }
