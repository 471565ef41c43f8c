package index

import (
	"math/bits"
	"testing"
	"time"
)

// BenchmarkFind looks up 10 million objects at the load that the index is made
// for, present ones (hit) and others (absent), beside as many pairs of plain reads
// of two random lines of the same table (reads). Each look-up waits for the one
// before, as a request does. Each figure is the best of many short turns, which
// other work on the machine disturbs least.
func BenchmarkFind(b *testing.B) {
	const objects, turn = 10_000_000, 20_000
	x := New(objects)
	for i := range objects {
		x.Put(hashOf(i), placeOf(i))
	}
	b.ReportAllocs()
	walks := map[string]func(h uint64) uint64{
		"hit":    func(n uint64) uint64 { return findOne(x, hashOf(int(n%objects))) },
		"absent": func(n uint64) uint64 { return findOne(x, hashOf(int(n%objects)+objects)) },
		"reads":  func(n uint64) uint64 { return readTwo(x, hashOf(int(n%objects))) },
	}
	best := map[string]time.Duration{}
	at := uint64(1)
	for b.Loop() {
		for name, walk := range walks {
			start := time.Now()
			for range turn {
				at = at*6364136223846793005 + 1442695040888963407 + walk(at>>33)
			}
			if took := time.Since(start); best[name] == 0 || took < best[name] {
				best[name] = took
			}
		}
	}
	for name, took := range best {
		b.ReportMetric(float64(took.Nanoseconds())/turn, name+"-ns")
	}
	b.ReportMetric(float64(best["hit"])/float64(best["reads"]), "hit/reads")
	b.ReportMetric(float64(best["absent"])/float64(best["reads"]), "absent/reads")
}

func findOne(x *Index, h uint64) uint64 {
	var room [16]Place
	return uint64(len(x.Find(h, room[:0])))
}

func readTwo(x *Index, h uint64) uint64 {
	first, _ := bits.Mul64(h, uint64(len(x.buckets)))
	other, _ := bits.Mul64(h<<20, uint64(len(x.buckets)))
	return (x.buckets[first][3].Load() + x.buckets[other][5].Load()) & 1
}
