package model

import (
	"fmt"
	"testing"

	"edgeproxy/internal/admission"
)

// BenchmarkRequests is one request of a trace of a million objects, of which a
// twentieth fits, with the production filters: one by one, and in batches.
func BenchmarkRequests(b *testing.B) {
	objects, accesses := madeUp(1, 1_000_000, 4_000_000)
	const batch = 4096
	for _, e := range blindEvictions() {
		for _, p := range []admission.Policy{admission.Always, admission.SecondHit, admission.Counting} {
			s := exactSecondHit(uniqueBytes(objects) / 20)
			s.Policy, s.MoreThan, s.Eviction = p, 4, e
			s.RotateRequests, s.RotateKeys, s.Exact, s.FalsePositiveRate = 0, 200_000, false, 0.01
			bench := func(b *testing.B, step int, play func(r *Run, from int)) {
				b.Helper()
				r := newRun(b, s, objects)
				b.ResetTimer()
				for n := 0; n < b.N; n += step {
					play(r, n%(len(accesses)-step))
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreq/s")
			}
			b.Run(fmt.Sprintf("%s/%s/single", e, p), func(b *testing.B) {
				bench(b, 1, func(r *Run, from int) { r.Request(accesses[from]) })
			})
			b.Run(fmt.Sprintf("%s/%s/batch", e, p), func(b *testing.B) {
				bench(b, batch, func(r *Run, from int) { r.Requests(accesses[from : from+batch]) })
			})
		}
	}
}
