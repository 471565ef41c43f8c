package index

import (
	"maps"
	"slices"
	"sync"
	"testing"
)

func newer(a, b Place) bool { return a.Segment > b.Segment }

func TestFillKeepsTheNewestOfAKey(t *testing.T) {
	const keys, segments = 500, 8
	orders := map[string]func(n int) int{
		"oldest first": func(n int) int { return n },
		"newest first": func(n int) int { return segments - 1 - n },
		"mixed":        func(n int) int { return n * 3 % segments },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			x, deaths := New(2*keys), map[Place]int{}
			for n := range segments {
				x.Fill(footer(uint16(order(n)), keys), newer, func(p Place) { deaths[p]++ })
			}
			for k := range keys {
				want := []Place{{Segment: segments - 1, Offset: uint32(k)}}
				if got := x.Find(hashOf(k), nil); !slices.Equal(got, want) {
					t.Fatalf("Find of key %d = %v, want %v", k, got, want)
				}
			}
			for p, times := range deaths {
				if times != 1 {
					t.Errorf("%v died %d times, want once", p, times)
				}
			}
			if len(deaths) != keys*(segments-1) {
				t.Errorf("%d places died, want %d", len(deaths), keys*(segments-1))
			}
		})
	}
}

// footer returns the entries of a segment that has a record of each key.
func footer(segment uint16, keys int) []Entry {
	all := make([]Entry, keys)
	for k := range all {
		all[k] = Entry{hashOf(k), Place{Segment: segment, Offset: uint32(k)}}
	}
	return all
}

func TestFillAgainChangesNothing(t *testing.T) {
	x := New(100)
	x.Fill(footer(1, 100), newer, nil)
	x.Fill(footer(1, 100), newer, func(p Place) { t.Errorf("%v died", p) })
	if x.Len() != 100 {
		t.Errorf("Len() = %d, want 100", x.Len())
	}
}

func TestFillPushesNothingOut(t *testing.T) {
	x, died := New(1), 0
	x.Fill(footer(1, 100), newer, func(Place) { died++ })
	if x.Len()+died != 100 || x.Len() < 14 {
		t.Errorf("%d words in and %d died, want 100 together and the table full", x.Len(), died)
	}
	x.Fill([]Entry{{1, Place{Offset: MaxOffset + 1}}}, newer, func(Place) { died++ })
	if x.Len()+died != 101 {
		t.Errorf("a place that does not fit did not die")
	}
}

// TestFillBesideRequests fills from several goroutines, oldest first in some, while
// newer records are put: what was put stays, and each place is in or dead.
func TestFillBesideRequests(t *testing.T) {
	const keys, segments, fillers = 3000, 9, 3
	x := New(2 * keys)
	var mu sync.Mutex
	deaths := map[Place]int{}
	dead := func(p Place) {
		mu.Lock()
		defer mu.Unlock()
		deaths[p]++
	}
	var all sync.WaitGroup
	for f := range fillers {
		all.Go(func() {
			for s := f; s < segments; s += fillers {
				x.Fill(footer(uint16(s), keys), newer, dead)
			}
		})
	}
	all.Go(func() {
		for k := range keys / 10 {
			putNewest(t, x, hashOf(k), Place{Segment: segments, Offset: uint32(k)}, dead)
		}
	})
	all.Wait()
	for k := range keys {
		want := Place{Segment: segments - 1, Offset: uint32(k)}
		if k < keys/10 {
			want.Segment = segments
		}
		if got := x.Find(hashOf(k), nil); !slices.Contains(got, want) {
			t.Fatalf("Find of key %d = %v, want %v", k, got, want)
		}
		for _, p := range x.Find(hashOf(k), nil) {
			deaths[p]++
		}
	}
	want := keys*segments + keys/10
	if got := slices.Max(slices.Collect(maps.Values(deaths))); len(deaths) != want || got != 1 {
		t.Errorf("%d places in or dead, one of them %d times; want %d, once each", len(deaths), got, want)
	}
}

// putNewest is what a store does with a new record: it takes an older one's place.
func putNewest(t *testing.T, x *Index, h uint64, p Place, dead func(Place)) {
	t.Helper()
	for {
		there := x.Find(h, nil)
		if len(there) == 0 {
			if _, wasLost := x.Put(h, p); wasLost {
				t.Error("a word was pushed out of a half empty table")
			}
			return
		}
		if x.Swap(h, there[0], p) {
			dead(there[0])
			return
		}
	}
}

func BenchmarkFill(b *testing.B) {
	const objects, segments = 10_000_000, 1000
	footers := make([][]Entry, segments)
	for n := range objects {
		footers[n%segments] = append(footers[n%segments], Entry{hashOf(n), placeOf(n)})
	}
	b.ReportAllocs()
	for b.Loop() {
		x := New(objects)
		var all sync.WaitGroup
		for f := range 2 {
			all.Go(func() {
				for s := f; s < segments; s += 2 {
					x.Fill(footers[s], newer, func(Place) {})
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(x.Len()), "words")
	}
}
