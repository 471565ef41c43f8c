package counting

import (
	"sync/atomic"
	"testing"
)

const benchCapacity = 1_000_000

func BenchmarkAdd(b *testing.B) {
	f := newFilter(b, 2, benchCapacity, 0.01)
	var worker atomic.Uint64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		key := worker.Add(1) << 40
		for pb.Next() {
			key += 7919
			f.add(key % benchCapacity)
		}
	})
	b.ReportMetric(float64(f.Bytes())/benchCapacity*8, "bits/key")
}

func BenchmarkEstimate(b *testing.B) {
	f := newFilter(b, 2, benchCapacity, 0.01)
	for key := range uint64(benchCapacity) {
		f.add(key)
	}
	key := uint64(0)
	for b.Loop() {
		key += 7919
		f.estimate(key % (2 * benchCapacity))
	}
}
