package simulate

import (
	"math"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// shared opens one of the traces that lie outside the project, and skips the
// test where they do not.
func shared(t *testing.T, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(t.Context(), []string{testkit.Trace(t, name)}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// Sets, LRU, 5 % of the unique bytes: what an independent simulator found.
func TestGridGivesTheReferenceValues(t *testing.T) {
	f := func(name string, wantCapacity int64, want ...Result) {
		t.Run(name, func(t *testing.T) {
			r := replayed(t, shared(t, name), Grid{
				Policies: []admission.Policy{admission.Always, admission.SecondHit, admission.Counting}, Exact: true,
				Rotations:  []Rotation{{}, {Unit: ByRequests, PerCached: 4}, {Unit: ByKeys, PerCached: 1}},
				MaxObjects: []int64{1 << 40}, Evictions: lru(), // it had no limit but the capacity
			})
			g := r.Groups[0]
			if g.CapacityBytes != wantCapacity {
				t.Errorf("capacity: got %d, want %d", g.CapacityBytes, wantCapacity)
			}
			for i, w := range want {
				got := g.Results[i]
				if math.Abs(got.HitRatio-w.HitRatio) > 0.00005 || got.Writes != w.Writes {
					t.Errorf("%s: got %.4f %d, want %.4f %d", got.describe(), got.HitRatio, got.Writes, w.HitRatio, w.Writes)
				}
			}
		})
	}
	f("adaptsize.tr", 14_021_562, Result{HitRatio: 0.3127, Writes: 46_040}, Result{HitRatio: 0.3178, Writes: 8_883},
		Result{HitRatio: 0.3087, Writes: 5_897}, Result{HitRatio: 0.3019, Writes: 4_844}, Result{HitRatio: 0.2495, Writes: 1_440})
	f("nasa-1995-08-01.tsv", 5_467_965, Result{HitRatio: 0.7261, Writes: 8_298}, Result{HitRatio: 0.7498, Writes: 5_842},
		Result{HitRatio: 0.7899, Writes: 898}, Result{HitRatio: 0.7913, Writes: 702}, Result{HitRatio: 0.7739, Writes: 2_446})
}
