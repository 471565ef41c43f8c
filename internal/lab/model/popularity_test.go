package model

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// Counts and sizes of a production network's objects with two models of when they
// are asked for: second-hit must save writes in both; what it costs in hits where
// the requests of an object come close together, a stage must give back.
func TestPopularityModelShowsWhatSecondHitSavesAndCosts(t *testing.T) {
	testkit.Slow(t, "it plays millions of requests")
	testkit.Plain(t, "it has one goroutine, which takes long under the detector")
	dir := testkit.Trace(t, "")
	f := func(arrivals string, check func(always, second, staged Result)) {
		t.Helper()
		t.Run(arrivals, func(t *testing.T) {
			tr, err := trace.Read(context.Background(),
				[]string{"popularity:" + filepath.Join(dir, "akamai-tc-popularity.txt") + ",arrivals=" + arrivals}, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tr.Close() })
			facts := tr.Facts()
			s := Setting{Rule: admission.Rule{Policy: admission.Always}, CapacityBytes: facts.UniqueBytes / 20, Eviction: LRU}
			always := playAll(t, s, tr)
			s.Policy, s.Generations, s.FalsePositiveRate = admission.SecondHit, 2, 0.01
			s.RotateRequests = 4 * (s.CapacityBytes * facts.Objects / facts.UniqueBytes)
			second := playAll(t, s, tr)
			s.StageBytes = s.CapacityBytes / 10
			staged := playAll(t, s, tr)
			t.Logf("byte hit ratio %.4f always, %.4f second-hit, %.4f staged; bytes written %d, %d, %d",
				always.ByteHitRatio, second.ByteHitRatio, staged.ByteHitRatio, always.WriteBytes, second.WriteBytes, staged.WriteBytes)
			if cut := 1 - ratio(second.WriteBytes, always.WriteBytes); cut < 0.44 {
				t.Errorf("bytes written: got %.1f %% less than always, want at least 44 %%", 100*cut)
			}
			check(always, second, staged)
		})
	}
	f("even", func(always, second, _ Result) {
		if second.ByteHitRatio <= always.ByteHitRatio {
			t.Errorf("even: got a byte hit ratio of %.4f, want more than the %.4f of always", second.ByteHitRatio, always.ByteHitRatio)
		}
	})
	f("bursty", func(always, second, staged Result) {
		if loss := always.ByteHitRatio - second.ByteHitRatio; math.Abs(loss-0.035) > 0.005 {
			t.Errorf("bursty: got a loss of %.4f, want about 0.035", loss)
		}
		if loss := always.ByteHitRatio - staged.ByteHitRatio; loss > 0.015 {
			t.Errorf("bursty with a stage: got a loss of %.4f, want at most 0.015", loss)
		}
	})
}

func playAll(t *testing.T, s Setting, tr *trace.Trace) Result {
	t.Helper()
	r := newRun(t, s, tr.Objects())
	if err := tr.Each(context.Background(), func(batch []trace.Access) error {
		for _, a := range batch {
			r.Request(a)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return r.Result()
}
