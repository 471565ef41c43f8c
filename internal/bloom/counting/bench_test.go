package counting

import (
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom/internal/bloomtest"
)

const benchCapacity = 1_000_000

// subject is one filter to measure.
type subject struct {
	name string
	counter
}

func subjects(b *testing.B) []subject {
	b.Helper()
	return []subject{
		{"production", lawful{newTestFilter(b, 2, benchCapacity, 0.01)}},
		{"textbook", lawfulTextbook{newTestTextbook(b, 2, benchCapacity, 0.01)}},
	}
}

// BenchmarkAdd counts sightings of a million keys over and over.
func BenchmarkAdd(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
			var worker atomic.Uint64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				key := worker.Add(1) << 40
				for pb.Next() {
					key += 7919
					f.Add(bloomtest.Hash(key % benchCapacity))
				}
			})
			b.ReportMetric(float64(f.Bytes())/benchCapacity*8, "bits/key")
		})
	}
}

func BenchmarkEstimate(b *testing.B) {
	for _, f := range subjects(b) {
		b.Run(f.name, func(b *testing.B) {
			bloomtest.Fill(f, 1, benchCapacity)
			key := uint64(0)
			for b.Loop() {
				key += 7919
				f.Estimate(bloomtest.Hash(key % (2 * benchCapacity)))
			}
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
				f.Rotate(start, 0)
			}
		})
	}
}
