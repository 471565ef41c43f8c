package model

import (
	"fmt"
	"testing"

	"edgeproxy/internal/admission"
)

// BenchmarkRequest is one request of a trace of half a million objects, of which
// a twentieth fits, with the production filters.
func BenchmarkRequest(b *testing.B) {
	objects, accesses := madeUp(1, 500_000, 4_000_000)
	for _, e := range []Eviction{LRU, S3FIFO, Ristretto} {
		for _, p := range []admission.Policy{admission.Always, admission.SecondHit, admission.Counting} {
			b.Run(fmt.Sprintf("%s/%s", e, p), func(b *testing.B) {
				s := exactSecondHit(uniqueBytes(objects) / 20)
				s.Policy, s.MoreThan, s.Eviction = p, 4, e
				s.RotateRequests, s.RotateKeys, s.Exact, s.FalsePositiveRate = 0, 100_000, false, 0.01
				r := newRun(b, s, objects)
				b.ResetTimer()
				for n := range b.N {
					r.Request(accesses[n%len(accesses)])
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreq/s")
			})
		}
	}
}
