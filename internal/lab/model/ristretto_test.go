package model

import (
	"testing"
	"testing/synctest"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// Ristretto hears of look-ups from a goroutine of its own, and in a model that
// did not let that run it would miss most of them, and evict as the proxy never
// does. Under the race detector it misses some on purpose.
func TestRistrettoHearsWhatIsAskedForAsAtThePaceOfAProxy(t *testing.T) {
	testkit.Plain(t, "Ristretto misses some look-ups on purpose under the detector")
	objects, accesses := madeUp(4, 2000, 20_000)
	s := exactSecondHit(uniqueBytes(objects) / 20)
	s.Policy, s.Eviction = admission.Always, Ristretto
	const runs = 4
	var model, slow int64
	for range runs {
		model += play(t, s, objects, accesses).Hits
		synctest.Test(t, func(t *testing.T) { slow += playSlowly(t, s, objects, accesses) })
	}
	if off := float64(model)/float64(slow) - 1; off < -0.05 || off > 0.05 {
		t.Errorf("hits: got %d on average, want within 5 %% of the %d of runs that wait for Ristretto", model/runs, slow/runs)
	}
}

// playSlowly is play that waits after each request until nothing moves any more.
func playSlowly(t *testing.T, s Setting, objects []trace.Object, accesses []trace.Access) (hits int64) {
	t.Helper()
	r := newRun(t, s, objects)
	for _, a := range accesses {
		r.Request(a)
		synctest.Wait()
	}
	return r.Result().Hits
}
