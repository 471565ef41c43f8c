package cache

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// BenchmarkFind measures look-ups by where they end, without a stage and beside a
// full one. Run it with -cpu 1,2.
func BenchmarkFind(b *testing.B) {
	b.Run("off", func(b *testing.B) { benchmarkFind(b, 0) })
	b.Run("staged", func(b *testing.B) { benchmarkFind(b, 8<<20) })
}

func benchmarkFind(b *testing.B, stageBytes int64) {
	b.Helper()
	const count = 4096
	s := newStoreOf(b, Options{MaxBytes: 64<<20 + stageBytes, MaxObjectBytes: 1 << 20, MaxVariants: 32, StageBytes: stageBytes})
	names, keys := make([][]byte, count), make([]Key, count)
	for i := range names {
		e := plain(fmt.Sprintf("https://example.com/some/longer/path/object-%d", i), 0, 2048)
		names[i], keys[i] = e.Name, e.Key
		if stageBytes > 0 && i%4 == 0 {
			mustStage(b, s, e)
		} else {
			mustPut(b, s, e)
		}
	}
	var ids [4][]int // in window, main and stage; all
	for i := range names {
		place := 1
		switch {
		case s.window.peek(keys[i]) != nil:
			place = 0
		case s.stage.items.peek(keys[i]) != nil:
			place = 2
		}
		ids[place] = append(ids[place], i)
		ids[3] = append(ids[3], i)
	}
	absent := make([]Key, count)
	for i := range absent {
		absent[i] = Key{Hi: keys[i].Hi + 1, Lo: keys[i].Lo}
	}
	run := func(name string, ids []int, keys []Key, want bool) {
		if len(ids) == 0 {
			return
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.IntN(len(ids)); pb.Next(); i++ {
					id := ids[i%len(ids)]
					if _, tier := findIn(s, keys[id], names[id]); (tier != None) != want {
						b.Errorf("Find: got tier %v, want a hit %v", tier, want)
						return
					}
				}
			})
		})
	}
	run("window", ids[0], keys, true)
	run("hot", ids[0][:1], keys, true)
	run("main", ids[1], keys, true)
	run("stage", ids[2], keys, true)
	run("miss", ids[3], absent, false)
}

// BenchmarkPut measures writes into a full cache with regions, each of which moves an entry on.
func BenchmarkPut(b *testing.B) {
	s := newStore(b, 64<<20, 64<<10)
	for i := range 65536 {
		mustPut(b, s, plain(fmt.Sprint("old", i), 0, 1024))
	}
	var next atomic.Int64
	data := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e := plain(fmt.Sprint("new", next.Add(1)), 0, 0)
			e.Content = InMemory(data)
			s.Put(e, nil)
		}
	})
}
