package cache

import (
	"fmt"
	"runtime"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestIndexIsBoundedAndKeepsNothingUnreachable(t *testing.T) {
	testkit.Plain(t, "400,000 calls of one goroutine")
	const urls = 200_000
	s := newStore(t, 8<<20, 64<<10)
	shared := []string{"Accept-Encoding"}
	for i := range urls {
		url := fmt.Sprintf("https://example.com/%d", i)
		mustPut(t, s, variant(url, "gzip", 8, shared...))
		if i%1000 == 0 {
			checkBounds(t, s)
		}
	}
	reachable := int64(0)
	for i := range urls {
		if _, ok := get(s, fmt.Sprintf("https://example.com/%d", i), "gzip"); ok {
			reachable++
		}
	}
	st := s.Stats()
	if st.Objects != reachable {
		t.Errorf("objects: got %d held, want the %d reachable", st.Objects, reachable)
	}
	if reachable < 100 || st.Variants == 0 {
		t.Errorf("got %d objects and %d evicted with their record, want a full index", reachable, st.Variants)
	}
}

func TestIndexBytesCoverTheHeap(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	const count = 10_000
	names := make([][]byte, count)
	for i := range names {
		names[i] = fmt.Appendf(nil, "https://example.com/directory/object-%d.html", i)
	}
	before := heapBytes()
	s := newStore(t, 512<<20, 64<<10)
	empty := heapBytes()
	h := Hasher{seed: 42}
	s.mu.Lock()
	for _, name := range names {
		s.fileLocked(NewObject(&Entry{Key: h.Sum(name), URL: h.Sum(name), Name: name, URLLen: int32(len(name)), Vary: []string{"Accept-Encoding"}}))
	}
	s.mu.Unlock()
	table := int64(len(s.index.chains)) * 8 * s.index.bytes.Load() / s.limits.indexBytes
	held, counted := heapBytes()-empty+table, s.Stats().IndexBytes
	t.Logf("per record: %d bytes on the heap, counted %d; store %d", held/count, counted/count, (empty-before)>>10)
	runtime.KeepAlive(names)
	if held > counted || held*15/10 < counted {
		t.Errorf("heap: got %d bytes for records counted as %d, want 67 to 100 %% of it", held, counted)
	}
}
