package sliding

import (
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
)

const benchCapacity = 1_000_000

// BenchmarkSeen sights keys that the newest generation holds: what a popular
// key costs. Those that only the older one holds move over within the first
// two million calls.
func BenchmarkSeen(b *testing.B) {
	f := newFilter(b, 2, benchCapacity, 0.01)
	fillWindow(f, 2, benchCapacity)
	var worker atomic.Uint64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		key := worker.Add(1) << 40
		for pb.Next() {
			key += 7919
			f.seen(key % (2 * benchCapacity))
		}
	})
	b.ReportMetric(float64(f.Bytes())/benchCapacity*8, "bits/key")
}

// BenchmarkSeenNewKeys sights keys never seen, rotating whenever it is full.
func BenchmarkSeenNewKeys(b *testing.B) {
	f := newFilter(b, 2, benchCapacity, 0.01)
	var worker atomic.Uint64
	b.RunParallel(func(pb *testing.PB) {
		key := worker.Add(1) << 40
		for pb.Next() {
			key++
			f.seen(key)
			if f.Full() {
				f.Rotate(start, bloom.CauseFull)
			}
		}
	})
}
