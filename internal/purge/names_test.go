package purge

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/field"
)

func TestNamesOfTags(t *testing.T) {
	p := New(Options{})
	long := strings.Repeat("x", longestName+1)
	tags := p.AppendTags(nil, field.List{{Name: "Surrogate-Key", Value: "a b " + long}, {Name: "Cache-Tag", Value: "c d, b"}})
	tags = p.AppendGroup(tags, "http", []byte("h"), "g")
	if got := p.Names(append(tags, 1, AnyTag)); len(tags) != 6 || !cmp.Equal(got, []string{"a", "b", "c d", "g"}) {
		t.Errorf("got %q for %d tags", got, len(tags))
	}
	if other := New(Options{}); other.Names(tags) != nil {
		t.Error("the names are known to a table that has not met them")
	}
}

// What came first is forgotten first, and no more than mostNames are kept.
func TestNamesHaveABound(t *testing.T) {
	for _, length := range []int{20, longestName} {
		boundOfNames(t, length)
	}
}

func boundOfNames(t *testing.T, length int) {
	t.Helper()
	p := New(Options{})
	name := func(i int) string { return fmt.Sprintf("%0*d", length, i) }
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 3 * mostNames {
		p.appendNamed(nil, name(i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc) //nolint:gosec // far below the largest
	t.Logf("%d names of %d bytes take %d bytes", mostNames, length, grown)
	if n := len(p.names.byHash); n != mostNames || grown > 4<<20 {
		t.Errorf("got %d names in %d bytes, want %d", n, grown, mostNames)
	}
	for i, want := range map[int]bool{0: false, 2*mostNames - 1: false, 2 * mostNames: true, 3*mostNames - 1: true} {
		if got := p.Names([]uint64{p.HashTag(name(i))}) != nil; got != want {
			t.Errorf("name %d: got %v, want %v", i, got, want)
		}
	}
	runtime.KeepAlive(p)
}

func BenchmarkATagWhoseNameIsKnown(b *testing.B) {
	p := New(Options{})
	h := field.List{{Name: "Surrogate-Key", Value: "post-123 author-4 category-7"}}
	var tags []uint64
	b.ReportAllocs()
	for b.Loop() {
		tags = p.AppendTags(tags[:0], h)
	}
}
