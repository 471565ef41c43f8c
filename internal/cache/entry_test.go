package cache

import (
	"runtime"
	"testing"

	"edgeproxy/internal/http/field"
)

func TestCostCountsEveryPart(t *testing.T) {
	base := plain("/a", 0, 8).Cost()
	f := func(what string, want int64, change func(*Entry)) {
		t.Helper()
		e := plain("/a", 0, 8)
		change(e)
		want += (want + holesShare - 1) / holesShare // its share of the holes
		if got := e.Cost() - base; got > want || got < want-1 {
			t.Errorf("%s: got %d bytes more, want %d, or 1 less", what, got, want)
		}
	}
	f("body", 100, func(e *Entry) { e.Content = InMemory(make([]byte, 108)) })
	f("name", 3, func(e *Entry) { e.Name = []byte("/abcd") })
	f("header", 2*4+4+5, func(e *Entry) { e.Header = field.List{{Name: "Etag", Value: ""}, {Name: "", Value: "12345"}} })
	f("tags", 3*8, func(e *Entry) { e.Tags = []uint64{1, 2, 3} })
	f("vary", 16+6, func(e *Entry) { e.Vary = []string{"Accept"} })
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
