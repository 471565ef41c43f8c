package cache

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

// The bound of bytes is worth nothing if an entry takes more than its cost. The
// other way, a cost of twice the truth would waste half the memory.
func TestCostCoversTheHeap(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	const count = 20_000
	f := func(tier Tier, put func(*Store, *Entry) Outcome, fields ...string) {
		t.Helper()
		s := newStoreOf(t, Options{MaxBytes: 64 << 20, MaxObjectBytes: 1 << 20, MaxVariants: 1, StageBytes: 32 << 20})
		before := heapBytes()
		for i := range count {
			url := fmt.Sprintf("https://example.com/directory/object-%d.html", i)
			e := plain(url, 0, 500)
			if fields != nil {
				e = variant(url, "gzip", 500, strings.Clone(fields[0]))
			}
			e.Header = field.List{{Name: "Content-Type", Value: string(make([]byte, 24))}, {Name: "Date", Value: string(make([]byte, 29))}}
			if got := put(s, e); got != Stored {
				t.Fatalf("put: got %v, want stored", got)
			}
		}
		held, counted := heapBytes()-before, s.Bytes()
		if s.Objects() != count {
			t.Fatalf("objects: got %d, want %d", s.Objects(), count)
		}
		t.Logf("%v, Vary %q: per entry: %d bytes on the heap, cost %d", tier, fields, held/count, counted/count)
		if held > counted || held*13/10 < counted {
			t.Errorf("%v, Vary %q: got %d bytes on the heap for entries of cost %d, want 77 to 100 %% of it", tier, fields, held, counted)
		}
		runtime.KeepAlive(s)
	}
	put := func(s *Store, e *Entry) Outcome { return s.Put(e, nil) }
	stage := func(s *Store, e *Entry) Outcome { return s.PutStage(e, nil) }
	f(Memory, put)
	f(Stage, stage)
	f(Stage, stage, "Accept-Encoding")
}
