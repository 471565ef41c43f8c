package admission

import (
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

// BenchmarkSight sights keys of which about two thirds were sighted before.
// Run with -cpu 1,2 for one and two goroutines.
func BenchmarkSight(b *testing.B) {
	for _, r := range []Rule{{Policy: Always}, secondHit, more4, {Policy: Never}} {
		b.Run(r.Policy.String(), func(b *testing.B) {
			size := FilterOptions{bloom.Options{Generations: 2, Capacity: 1_000_000, FalsePositiveRate: 0.01}, time.Hour}
			g := newGate(b, Options{SecondHit: &size, Counting: &size})
			var worker atomic.Uint64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				next := worker.Add(1) << 40
				for pb.Next() {
					next++
					g.sight(r, next/3)
				}
			})
		})
	}
}
