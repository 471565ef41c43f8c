package counting

import (
	"sync/atomic"
	"testing"
)

const benchCapacity = 1_000_000

// counter is what both filters are to the benchmarks.
type counter interface {
	Add(hi, lo uint64) int
	Estimate(hi, lo uint64) int
	Bytes() int64
}

func eachFilter(b *testing.B, bench func(b *testing.B, f counter)) {
	b.Run("production", func(b *testing.B) { bench(b, newTestFilter(b, 2, benchCapacity, 0.01)) })
	b.Run("textbook", func(b *testing.B) { bench(b, newTestTextbook(b, 2, benchCapacity, 0.01)) })
}

// BenchmarkAdd counts sightings of a million keys over and over.
func BenchmarkAdd(b *testing.B) {
	eachFilter(b, func(b *testing.B, f counter) {
		var worker atomic.Uint64
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			key := worker.Add(1) << 40
			for pb.Next() {
				key += 7919
				f.Add(hash(key % benchCapacity))
			}
		})
		b.ReportMetric(float64(f.Bytes())/benchCapacity*8, "bits/key")
	})
}

func BenchmarkEstimate(b *testing.B) {
	eachFilter(b, func(b *testing.B, f counter) {
		for key := range uint64(benchCapacity) {
			f.Add(hash(key))
		}
		key := uint64(0)
		for b.Loop() {
			key += 7919
			f.Estimate(hash(key % (2 * benchCapacity)))
		}
	})
}
