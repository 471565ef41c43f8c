package shadow

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// naive is the same cache as a plain list, least recently used first.
type naive struct {
	held       []record
	max, count int64
}

func (n *naive) bytes() (total int64) {
	for _, r := range n.held {
		total += r.size + entryBytes
	}
	return total
}

func (n *naive) hit(hi, lo uint64, size int64, fits bool) bool {
	at := slices.IndexFunc(n.held, func(r record) bool { return r.hi == hi && r.lo == lo })
	if at < 0 {
		return false
	}
	r := n.held[at]
	if size >= 0 && fits {
		r.size = size
	}
	n.held = append(slices.Delete(n.held, at, at+1), r)
	n.bound(0)
	return true
}

func (n *naive) store(hi, lo uint64, size int64) {
	n.bound(size + entryBytes)
	if int64(len(n.held)) == n.count {
		n.held = n.held[1:]
	}
	n.held = append(n.held, record{hi: hi, lo: lo, size: size})
}

func (n *naive) bound(more int64) {
	for n.bytes()+more > n.max {
		n.held = n.held[1:]
	}
}

func TestLRUAgreesWithAList(t *testing.T) {
	const most = 64 << 10
	l, n := newLRU(most, 20_000), &naive{max: most}
	n.count = int64(len(l.records))
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 20_000 {
		// Some keys share the half that chains go by, and so a chain.
		hi, lo := uint64(rng.IntN(40)), uint64(rng.IntN(4))
		size := rng.Int64N(25_000) - 1
		if rng.IntN(3) > 0 {
			size = rng.Int64N(100)
		}
		ok := l.hit(hi, lo, size)
		if want := n.hit(hi, lo, size, l.fits(size)); ok != want {
			t.Fatalf("step %d: key %d %d: got hit %v, want %v", step, hi, lo, ok, want)
		}
		if ok && l.records[l.newest].size != n.held[len(n.held)-1].size {
			t.Fatalf("step %d: got size %d, want %d", step, l.records[l.newest].size, n.held[len(n.held)-1].size)
		}
		if !ok && size >= 0 && l.fits(size) {
			l.store(hi, lo, size)
			n.store(hi, lo, size)
		}
		if l.bytes != n.bytes() || l.bytes > most {
			t.Fatalf("step %d: got %d bytes, want %d, at most %d", step, l.bytes, n.bytes(), most)
		}
	}
}

// However many objects fit by their bytes, the records are bounded.
func TestLRUBoundsItsRecords(t *testing.T) {
	l := newLRU(1<<40, 1<<30)
	if len(l.records) != maxEntries {
		t.Fatalf("records: got %d, want %d", len(l.records), maxEntries)
	}
	for key := range uint64(maxEntries + 10) {
		l.store(key, key, 0)
	}
	for key, want := range map[uint64]bool{9: false, 10: true, maxEntries + 9: true} {
		if got := l.hit(key, key, -1); got != want {
			t.Errorf("key %d: got held %v, want %v", key, got, want)
		}
	}
	if want := int64(maxEntries * entryBytes); l.bytes != want {
		t.Errorf("bytes: got %d, want %d", l.bytes, want)
	}
}

func TestRecordTakesWhatIsStated(t *testing.T) {
	if got := reflect.TypeFor[record]().Size(); got != recordBytes {
		t.Errorf("a record: got %d bytes, want %d", got, recordBytes)
	}
}
