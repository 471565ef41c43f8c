package cache

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/test/testkit"
)

// many returns a small response of the usual shape.
func many(h Hasher, i int) *Entry {
	name := fmt.Appendf(nil, "https\x00www.example.com\x00/directory/object-%d.html\x00", i)
	k := h.Sum(name)
	return &Entry{
		Key: k, Name: name, URL: k, URLLen: int32(len(name)), Status: 200, Serial: uint64(i + 1), Born: 1,
		ResponseTime: time.Unix(1_800_000_000, int64(i)), Policy: rfc9111.Policy{Explicit: true, Lifetime: time.Hour, Keep: 24 * time.Hour},
		Header: field.List{
			{Name: "Content-Type", Value: "text/html; charset=utf-8"},
			{Name: "Date", Value: "Mon, 02 Jan 2006 15:04:05 GMT"},
			{Name: "Cache-Control", Value: "public, max-age=3600"},
			{Name: "Via", Value: "1.1 edgeproxy"},
		},
		Content: InMemory(make([]byte, 100+i%200)),
	}
}

// TestManyObjects: beside key, head and body an object takes at most 300 bytes, as the cache accounts
// for it and on the heap, and the collector has one thing to look at for eight of them. The maps of ristretto
// double when they are full, so there are several numbers of objects.
func TestManyObjects(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	for _, count := range []int{80_000, 130_000} {
		h := Hasher{seed: 42}
		own := int64(0)
		before, objectsBefore := heapBytes(), heapObjects()
		s := newStore(t, int64(count)*1000, 64<<10)
		empty := heapBytes() - before
		for i := range count {
			e := many(h, i)
			own += int64(len(e.Name)) + e.Header.Size() + e.Content.Size()
			mustPut(t, s, e)
		}
		n := int64(count)
		if s.Objects() != n {
			t.Fatalf("got %d objects, want %d", s.Objects(), n)
		}
		held, objects := heapBytes()-before-empty, heapObjects()-objectsBefore
		accounted := s.Bytes() - own
		t.Logf("%d objects: %d bytes each accounted beside %d of their own, %d on the heap, %.2f heap objects",
			count, accounted/n, own/n, (held-own)/n, float64(objects)/float64(n))
		if accounted > 300*n || held > s.Bytes() {
			t.Errorf("%d objects: got %d bytes accounted and %d on the heap beside %d, want at most 300, and no more than accounted",
				count, accounted/n, (held-own)/n, own/n)
		}
		if objects > n/8 {
			t.Errorf("%d objects: got %d heap objects, want an eighth of that", count, objects)
		}
		s.Close()
		runtime.KeepAlive(s)
	}
}

func heapObjects() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapObjects) //nolint:gosec // a count
}

// BenchmarkCollection is one collection beside many small objects, by the time that it takes of a processor.
func BenchmarkCollection(b *testing.B) {
	const count = 500_000
	s := newStore(b, count*1000, 64<<10)
	for i := range count {
		mustPut(b, s, many(Hasher{seed: 42}, i))
	}
	runtime.GC()
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	before := sample[0].Value.Float64()
	for b.Loop() {
		runtime.GC()
	}
	metrics.Read(sample)
	b.ReportMetric((sample[0].Value.Float64()-before)*1000/float64(b.N), "cpu-ms/op")
	runtime.KeepAlive(s)
}
