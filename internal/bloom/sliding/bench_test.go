package sliding

import (
	"io"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
)

const benchCapacity = 1_000_000

// sighter is what both filters are to benchmarks.
type sighter interface {
	bloomtest.Window
	Seen(hi, lo uint64) bool
}

// subject is one filter to measure.
type subject struct {
	name string
	sighter
}

func subjects(b *testing.B) []subject {
	b.Helper()
	return []subject{
		{"pair", lawful{newTestFilter(b, 2, benchCapacity)}},
		{"three", lawful{newTestFilter(b, 3, benchCapacity)}},
		{"textbook", lawfulTextbook{newTestTextbook(b, 2, benchCapacity, 0.01)}},
	}
}

// BenchmarkSeen sights keys that the newest generation holds: what a popular
// key costs. Those that only the older one holds move over within the first
// two million calls.
func BenchmarkSeen(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
			bloomtest.Fill(f, 2, benchCapacity)
			var worker atomic.Uint64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				key := worker.Add(1) << 40
				for pb.Next() {
					key += 7919
					f.Seen(bloomtest.Hash(key % (2 * benchCapacity)))
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
					f.Seen(bloomtest.Hash(key))
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
				bloomtest.Fill(f, 2, benchCapacity)
				b.StartTimer()
				f.Rotate(start, bloom.CauseFull)
			}
		})
	}
}

// BenchmarkSave writes a window of two full generations of a million keys.
func BenchmarkSave(b *testing.B) {
	f := lawful{newTestFilter(b, 2, benchCapacity)}
	bloomtest.Fill(f, 2, benchCapacity)
	b.SetBytes(f.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Save(io.Discard, start); err != nil {
			b.Fatal(err)
		}
	}
}
