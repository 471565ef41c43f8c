package cache

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// BenchmarkGet measures look-ups by where they end. Run it with -cpu 1,2.
func BenchmarkGet(b *testing.B) {
	const count = 4096
	s := newStore(b, 64<<20, 1<<20)
	names, keys := make([][]byte, count), make([]Key, count)
	for i := range names {
		e := plain(fmt.Sprintf("https://example.com/some/longer/path/object-%d", i), 0, 2048)
		names[i], keys[i] = e.Name, e.Key
		mustPut(b, s, e)
	}
	var inMain, inWindow, missing []int
	for i := range names {
		if s.window.peek(keys[i]) != nil {
			inWindow = append(inWindow, i)
		} else {
			inMain = append(inMain, i)
		}
	}
	for i := range names {
		missing = append(missing, i)
	}
	absent := make([]Key, count)
	for i := range absent {
		absent[i] = Key{Hi: keys[i].Hi + 1, Lo: keys[i].Lo}
	}
	run := func(name string, ids []int, keys []Key, want bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.IntN(len(ids)); pb.Next(); i++ {
					id := ids[i%len(ids)]
					if _, ok := s.Get(keys[id], names[id]); ok != want {
						b.Errorf("Get: got %v, want %v", ok, want)
						return
					}
				}
			})
		})
	}
	run("window", inWindow, keys, true)
	run("hot", inWindow[:1], keys, true)
	run("main", inMain, keys, true)
	run("miss", missing, absent, false)
}

// BenchmarkPut measures writes into a full cache, each of which moves an entry on.
func BenchmarkPut(b *testing.B) {
	s := newStore(b, 16<<20, 64<<10)
	for i := range 16384 {
		mustPut(b, s, plain(fmt.Sprint("old", i), 0, 1024))
	}
	var next atomic.Int64
	data := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e := plain(fmt.Sprint("new", next.Add(1)), 0, 0)
			e.Body = data
			s.Put(e, nil)
		}
	})
}
