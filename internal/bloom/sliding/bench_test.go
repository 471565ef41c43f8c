package sliding

import (
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

const benchCapacity = 1_000_000

// sighter is what both filters are to the benchmarks and to common tests.
type sighter interface {
	Seen(hi, lo uint64) bool
	Has(hi, lo uint64) bool
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	Stats(now time.Time) bloom.Stats
	Bytes() int64
}

func eachLayout(b *testing.B, bench func(b *testing.B, f sighter)) {
	b.Run("pair", func(b *testing.B) { bench(b, newTestFilter(b, 2, benchCapacity, 0.01)) })
	b.Run("three", func(b *testing.B) { bench(b, newTestFilter(b, 3, benchCapacity, 0.01)) })
	b.Run("textbook", func(b *testing.B) { bench(b, newTestTextbook(b, 2, benchCapacity, 0.01)) })
}

// BenchmarkSeen sights keys that the newest generation holds: what a popular
// key costs. Those that only the older one holds move over within the first
// two million calls.
func BenchmarkSeen(b *testing.B) {
	eachLayout(b, func(b *testing.B, f sighter) {
		fillWindow(f, 2, benchCapacity)
		var worker atomic.Uint64
		b.ReportAllocs()
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			key := worker.Add(1) << 40
			for pb.Next() {
				key += 7919
				f.Seen(hash(key % (2 * benchCapacity)))
			}
		})
		b.ReportMetric(float64(f.Bytes())/benchCapacity*8, "bits/key")
	})
}

// BenchmarkSeenNewKeys sights keys never seen, rotating whenever it is full.
func BenchmarkSeenNewKeys(b *testing.B) {
	eachLayout(b, func(b *testing.B, f sighter) {
		var worker atomic.Uint64
		b.RunParallel(func(pb *testing.PB) {
			key := worker.Add(1) << 40
			for pb.Next() {
				key++
				f.Seen(hash(key))
				if key%1024 == 0 && f.Full() {
					f.Rotate(start, bloom.CauseFull)
				}
			}
		})
	})
}
