package admission

import (
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

// BenchmarkSight sights keys of which about two thirds were sighted before, as
// they come, none of the sample's, and the sample's only. Run with -cpu 1,2 for
// one and two goroutines.
func BenchmarkSight(b *testing.B) {
	const top = uint64(1) << 63
	keys := []struct {
		name string
		of   func(lo uint64) uint64
	}{
		{"any", func(lo uint64) uint64 { return lo }},
		{"unsampled", func(lo uint64) uint64 { return lo | top }},
		{"sampled", func(lo uint64) uint64 { return lo << firstBits >> firstBits }},
	}
	for _, r := range []Rule{{Policy: Always}, secondHit, more4, {Policy: Never}} {
		for _, k := range keys {
			b.Run(r.Policy.String()+"/"+k.name, func(b *testing.B) {
				size := FilterOptions{Options: bloom.Options{Generations: 2, Capacity: 1_000_000, FalsePositiveRate: 0.01}, RotateEvery: time.Hour}
				g := newGate(b, Options{SecondHit: &size, Counting: &size})
				sightAll(b, g, r, k.of)
			})
		}
	}
}

// sightAll sights keys of which two thirds were sighted before, from all goroutines; of
// changes the lower half of each hash.
func sightAll(b *testing.B, g *Gate, r Rule, of func(lo uint64) uint64) {
	b.Helper()
	var worker atomic.Uint64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		next := worker.Add(1) << 40
		for pb.Next() {
			next++
			hi, lo := hash(next / 3)
			g.Sight(r, hi, of(lo))
		}
	})
}

// BenchmarkSightFitted sights keys of which about two thirds were sighted before, in
// windows that fit a cache: one of 250,000 objects, whose generations are as long as
// those of BenchmarkSight, and the default one of 256 MiB.
func BenchmarkSightFitted(b *testing.B) {
	for name, tier := range map[string]int64{"250000 objects": 250_000 * (16<<10 + 800), "256 MiB": 256 << 20} {
		b.Run(name, func(b *testing.B) {
			size := FilterOptions{Options: bloom.Options{Generations: 2, FalsePositiveRate: 0.01}, Fitted: true}
			g := newGate(b, Options{SecondHit: &size, TierBytes: tier})
			sightAll(b, g, secondHit, func(lo uint64) uint64 { return lo | 1<<63 })
		})
	}
}

func BenchmarkFilled(b *testing.B) {
	size := FilterOptions{Options: bloom.Options{Generations: 2, Capacity: 1_000_000, FalsePositiveRate: 0.01}, RotateEvery: time.Hour}
	g := newGate(b, Options{SecondHit: &size})
	b.ReportAllocs()
	for key := uint64(0); b.Loop(); key++ {
		g.filled(secondHit, key/2, key%2 == 0)
	}
}
