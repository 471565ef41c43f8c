//go:build !race

package cache

import (
	"fmt"
	"runtime"
	"testing"

	"edgeproxy/internal/field"
)

// The race detector changes what these tests measure: it pads allocations, drops
// ristretto's samples, and is too slow for the long one.

// The bound of bytes is worth nothing if an entry takes more than its cost. The
// other way, a cost of twice the truth would waste half the memory.
func TestCostCoversTheHeap(t *testing.T) {
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
