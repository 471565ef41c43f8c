package purge

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

func TestNamesOfTags(t *testing.T) {
	p := New(Options{})
	long := strings.Repeat("x", longestName+1)
	tags := p.AppendTags(nil, field.List{{Name: "Surrogate-Key", Value: "a b " + long}, {Name: "Cache-Tag", Value: "c d, b"}}, NewTagFields("Surrogate-Key", "Cache-Tag"))
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
		p := New(Options{})
		name := func(i int) string { return fmt.Sprintf("%0*d", length, i) }
		for i := range 3 * mostNames {
			p.appendNamed(nil, name(i))
		}
		kept := 0
		for _, n := range p.names.byHash {
			kept += len(n)
		}
		if n := len(p.names.byHash); n != mostNames || kept != mostNames*length || len(p.names.order) != mostNames || cap(p.names.order) > 2*mostNames {
			t.Errorf("got %d names of %d bytes, and room to note the order of %d; want %d", n, kept, cap(p.names.order), mostNames)
		}
		for i, want := range map[int]bool{0: false, 2*mostNames - 1: false, 2 * mostNames: true, 3*mostNames - 1: true} {
			if got := p.Names([]uint64{p.HashTag(name(i))}) != nil; got != want {
				t.Errorf("name %d: got %v, want %v", i, got, want)
			}
		}
	}
}

// The names take less than 4 MiB, and little more than their text and a map take in any case.
func TestNamesTakeLittleMemory(t *testing.T) {
	testkit.Alone(t, "measures the heap")
	for _, length := range []int{20, longestName} {
		var p *Table
		var control map[uint64]string
		name := func(i int) string { return fmt.Sprintf("%0*d", length, i) }
		grown := heapGrowth(func() {
			p = New(Options{})
			for i := range 3 * mostNames {
				p.appendNamed(nil, name(i))
			}
		})
		plain := heapGrowth(func() {
			control = map[uint64]string{}
			for i := range mostNames {
				control[p.HashTag(name(i))] = name(i)
			}
		})
		t.Logf("%d names of %d bytes take %d bytes, in a map alone %d", mostNames, length, grown, plain)
		if grown > 4<<20 || grown > 2*plain {
			t.Errorf("got %d bytes, want at most 4 MiB and twice the %d bytes of a map", grown, plain)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(control)
	}
}

// heapGrowth returns by how many bytes more the heap holds after f.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what pools held
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc) //nolint:gosec // far below the largest
}

func BenchmarkATagWhoseNameIsKnown(b *testing.B) {
	p := New(Options{})
	h := field.List{{Name: "Surrogate-Key", Value: "post-123 author-4 category-7"}}
	var tags []uint64
	b.ReportAllocs()
	for b.Loop() {
		tags = p.AppendTags(tags[:0], h, NewTagFields("Surrogate-Key"))
	}
}
