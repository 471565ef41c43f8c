package cache

import (
	"fmt"
	"runtime"
	"testing"

	"edgeproxy/internal/field"
)

func TestCostCountsEveryPart(t *testing.T) {
	base := plain("/a", 0, 8).Cost()
	f := func(what string, want int64, change func(*Entry)) {
		t.Helper()
		e := plain("/a", 0, 8)
		change(e)
		if got := e.Cost() - base; got != want {
			t.Errorf("%s: got %d bytes more, want %d", what, got, want)
		}
	}
	f("body", 100, func(e *Entry) { e.Body = make([]byte, 108) })
	f("name", 3, func(e *Entry) { e.Name = []byte("/abcd") })
	f("header", 2*32+4+5, func(e *Entry) { e.Header = field.List{{Name: "Etag", Value: ""}, {Name: "", Value: "12345"}} })
	f("vary", 16+6, func(e *Entry) { e.Vary = []string{"Accept"} })
}

// The bound of bytes is worth nothing if an entry takes more than its cost. The
// other way, a cost of twice the truth would waste half the memory.
func TestCostCoversTheHeap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector pads allocations")
	}
	const count = 20_000
	s := newStore(t, 64<<20, 1<<20)
	before := heapBytes()
	for i := range count {
		e := plain(fmt.Sprintf("https://example.com/directory/object-%d.html", i), 0, 500)
		e.Header = field.List{{Name: "Content-Type", Value: string(make([]byte, 24))}, {Name: "Date", Value: string(make([]byte, 29))}}
		mustPut(t, s, e)
	}
	held, counted := heapBytes()-before, s.Bytes()
	if s.Objects() != count {
		t.Fatalf("objects: got %d, want %d", s.Objects(), count)
	}
	t.Logf("per entry: %d bytes on the heap, cost %d", held/count, counted/count)
	if held > counted || held*13/10 < counted {
		t.Errorf("heap: got %d bytes for entries of cost %d, want 77 to 100 %% of it", held, counted)
	}
	runtime.KeepAlive(s)
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
