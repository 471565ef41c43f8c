package model

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
)

// A cache whose objects are all out of use had up to 10 points fewer hits than an empty one, for long: what was asked for often once
// stayed.
func TestAfterAChangeOfEverythingACacheIsAsGoodAsAnEmptyOne(t *testing.T) {
	const n, size = 2000, 16 << 10
	rng := rand.New(rand.NewPCG(1, 1))
	objects := make([]trace.Object, 2*n)
	for i := range objects {
		objects[i] = trace.Object{Size: size, Hi: rng.Uint64(), Lo: rng.Uint64()}
	}
	law, sum := make([]float64, n), 0.0
	for i := range law {
		sum += math.Pow(float64(i+1), -0.9)
		law[i] = sum
	}
	ask := func(first uint32, requests int) (out []trace.Access) {
		for range requests {
			out = append(out, trace.Access{Object: first + uint32(sort.SearchFloat64s(law, rng.Float64()*sum))})
		}
		return out
	}
	before, after := ask(0, 150_000), ask(n, 30_000)
	capacity := int64(n * size / 10)
	s := Setting{
		Rule: policy.Rule{Policy: policy.SecondHit}, Generations: 2, Fitted: true, FalsePositiveRate: 0.01,
		CapacityBytes: capacity, StageBytes: capacity / 10, Eviction: SizeAware,
	}
	hits := func(first []trace.Access) float64 {
		r := newRun(t, s, objects)
		r.Requests(first)
		was := r.Result().Hits
		r.Requests(after)
		return 100 * float64(r.Result().Hits-was) / float64(len(after))
	}
	empty, full := hits(nil), hits(before)
	if full < empty-1 {
		t.Errorf("got %.1f %% hits, want the %.1f %% of an empty cache less one point", full, empty)
	}
	t.Logf("%.2f %% hits, of an empty cache %.2f %%", full, empty)
}
