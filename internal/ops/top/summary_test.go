package top

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// stream is requests for keys, by number, with weights.
type stream struct {
	name string
	next func(*rand.Rand) (key int, weight int64)
}

func streams() []stream {
	zipf := func(r *rand.Rand) int { return int(rand.NewZipf(r, 1.1, 1, 1<<20).Uint64()) }
	turn := 0
	return []stream{
		{"a skewed one", func(r *rand.Rand) (int, int64) { return zipf(r), 1 }},
		{"an even one of more keys than entries", func(r *rand.Rand) (int, int64) { return r.IntN(1000), 1 }},
		{"weights of all sizes", func(r *rand.Rand) (int, int64) { return zipf(r), int64(1) << r.IntN(30) }},
		{"a flood of keys that come once, beside a few", func(r *rand.Rand) (int, int64) {
			if r.IntN(10) == 0 {
				return r.IntN(5), 1
			}
			turn++
			return 1<<30 + turn, 1
		}},
		{"each key in turn, the worst case", func(*rand.Rand) (int, int64) {
			turn++
			return turn % 65, 1
		}},
		{"few keys", func(r *rand.Rand) (int, int64) { return r.IntN(20), 3 }},
	}
}

func textOf(key int) []byte { return fmt.Appendf(nil, "host-%d.example", key) }

// The bound that the documents promise, against an exact count.
func TestCountsAreWithinTheirBound(t *testing.T) {
	const entries, requests = 64, 20_000
	for _, one := range streams() {
		t.Run(one.name, func(t *testing.T) {
			for seed := range uint64(5) {
				r, h := rand.New(rand.NewPCG(seed, 1)), maphash.MakeSeed()
				s, exact, total := NewSummary(entries, 32), map[string]int64{}, int64(0)
				for i := range requests {
					key, weight := one.next(r)
					text := textOf(key)
					s.Add(maphash.Bytes(h, text), &Key{Host: text}, weight)
					exact[string(text)] += weight
					total += weight
					if i%999 == 0 || i == requests-1 {
						hold(t, s, exact, total)
					}
				}
			}
		})
	}
}

// hold compares s with the exact counts.
func hold(t *testing.T, s *Summary, exact map[string]int64, total int64) {
	t.Helper()
	if s.Total() != total {
		t.Fatalf("got the total %d, want %d", s.Total(), total)
	}
	bound, known := total/int64(cap(s.entries)), map[string]bool{}
	for i, e := range s.entries {
		name := string(s.name(i))
		known[name] = true
		if is := exact[name]; is < e.count-e.overcount || is > e.count || e.overcount > bound {
			t.Fatalf("%s: got %d less at most %d, want %d, and a bound of %d", name, e.count, e.overcount, is, bound)
		}
	}
	for name, is := range exact {
		if !known[name] && (is > s.Least() || is > bound) {
			t.Fatalf("%s is not known and has %d, want at most %d and %d", name, is, s.Least(), bound)
		}
	}
	for i, n := range s.heap {
		if s.entries[n].heapIndex != uint32(i) || i > 0 && s.less(uint32(i), uint32(i-1)/2) {
			t.Fatalf("the heap is not one at %d", i)
		}
	}
}

// The index against a map: what was removed is gone, and what it had pushed on is found.
func TestTheIndexIsAMap(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		entries, i, is := make([]entry, 50), newIndex(50), map[uint64]uint32{}
		free := make([]uint32, 0, 50)
		for n := range uint32(50) {
			free = append(free, n)
		}
		for range 5000 {
			hash := r.Uint64N(100) // close together, and around the end of the table
			n, ok := i.find(hash, entries)
			if was, known := is[hash]; ok != known || ok && n != was {
				t.Fatalf("%d: got %d %v, want %d %v", hash, n, ok, was, known)
			}
			switch {
			case ok && r.IntN(2) == 0:
				i.remove(hash, entries)
				delete(is, hash)
				free = append(free, n)
			case !ok && len(free) > 0:
				n = free[len(free)-1]
				free = free[:len(free)-1]
				entries[n].hash, is[hash] = hash, n
				i.insert(hash, n)
			}
		}
	}
}

func TestALongKeyIsCutAndStaysItself(t *testing.T) {
	s := NewSummary(4, 20)
	long := []byte("/a/path/that/is/long")
	s.Add(1, &Key{"http", []byte("a.example"), long}, 2)
	s.Add(2, &Key{"http", []byte("a.example"), append(long, '!')}, 3)
	s.Add(3, &Key{"http", []byte("a.exampl"), []byte("/1234")}, 1)
	got := []string{}
	for i, e := range s.entries {
		got = append(got, fmt.Sprintf("%s %t %d", s.name(i), e.cut, e.count))
	}
	if want := []string{"http://a.example/a/p true 2", "http://a.example/a/p true 3", "http://a.exampl/1234 false 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheSizesAreThose(t *testing.T) {
	if a, b := reflect.TypeFor[entry]().Size(), reflect.TypeFor[Summary]().Size(); a != entryBytes || b != summaryBytes {
		t.Errorf("got %d and %d bytes, want %d and %d", a, b, entryBytes, summaryBytes)
	}
}
