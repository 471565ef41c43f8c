package sliding

import (
	"io"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
)

const benchCapacity = 1_000_000

// subject is one filter to measure.
type subject struct {
	name string
	sighter
}

func subjects(b *testing.B) []subject {
	b.Helper()
	return []subject{
		{"pair", newTestFilter(b, 2, benchCapacity, 0.01)},
		{"three", newTestFilter(b, 3, benchCapacity, 0.01)},
		{"textbook", newTestTextbook(b, 2, benchCapacity, 0.01)},
	}
}

// BenchmarkSeen sights keys that the newest generation holds: what a popular
// key costs. Those that only the older one holds move over within the first
// two million calls.
func BenchmarkSeen(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
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
}

// BenchmarkSeenNewKeys sights keys never seen, rotating whenever it is full.
func BenchmarkSeenNewKeys(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
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
}

// BenchmarkRotate clears a generation of a million keys.
func BenchmarkRotate(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				fillWindow(f, 2, benchCapacity)
				b.StartTimer()
				f.Rotate(start, bloom.CauseFull)
			}
		})
	}
}

// BenchmarkSave writes a window of two full generations of a million keys.
func BenchmarkSave(b *testing.B) {
	f := newTestFilter(b, 2, benchCapacity, 0.01)
	fillWindow(f, 2, benchCapacity)
	b.SetBytes(f.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Save(io.Discard, start); err != nil {
			b.Fatal(err)
		}
	}
}
