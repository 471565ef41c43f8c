package simulate

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func result(writes int64, byteHits float64) Result {
	return Result{Policy: "second-hit", Writes: writes, ByteHitRatio: byteHits, OriginBytes: int64(1e6 * (1 - byteHits)), OriginRequests: 1000}
}

func marks(results []Result) (out []bool) {
	for i := range results {
		out = append(out, results[i].Pareto)
	}
	return out
}

func TestFrontIsWhatNothingBeats(t *testing.T) {
	f := func(results []Result, want ...bool) {
		t.Helper()
		markPareto(results)
		if got := marks(results); !cmp.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", results, got, want)
		}
	}
	f([]Result{result(10, 0.3)}, true)
	f([]Result{result(10, 0.3), result(5, 0.2), result(1, 0.1)}, true, true, true)
	f([]Result{result(10, 0.3), result(5, 0.3)}, false, true) // the same hits for fewer writes
	f([]Result{result(5, 0.2), result(5, 0.3)}, false, true)  // more hits for the same writes
	f([]Result{result(5, 0.3), result(5, 0.3), result(6, 0.3)}, true, true, false)
	f([]Result{result(9, 0.1), result(1, 0.5), result(4, 0.6), result(3, 0.4)}, false, true, true, false)
	f([]Result{result(0, 0), result(7, 0)}, true, false)
	f(nil)
}

// beaten says the same as the front's definition, pair by pair.
func beaten(r *Result, by []Result) bool {
	for i := range by {
		o := &by[i]
		if o.Writes <= r.Writes && o.ByteHitRatio >= r.ByteHitRatio && (o.Writes < r.Writes || o.ByteHitRatio > r.ByteHitRatio) {
			return true
		}
	}
	return false
}

func TestFrontAgreesWithItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		results := make([]Result, rng.IntN(12))
		for i := range results {
			results[i] = result(rng.Int64N(6), float64(rng.IntN(6))/10) // small, so that equals happen
		}
		markPareto(results)
		for i := range results {
			if got, want := results[i].Pareto, !beaten(&results[i], results); got != want {
				t.Fatalf("%+v of %+v: got %v, want %v", results[i], results, got, want)
			}
		}
	}
}
