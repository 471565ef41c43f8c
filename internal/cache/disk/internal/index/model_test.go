package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// model is what an index must agree with: which place each word has, and its hits.
type model map[held]int

type held struct {
	hash  uint64
	place Place
}

// check holds x to m: each word is found with its hits, and there are no others.
func (m model) check(t *testing.T, x *Index) {
	t.Helper()
	for k, hits := range m {
		if !slices.Contains(x.Find(k.hash, nil), k.place) {
			t.Fatalf("Find(%x) misses %v", k.hash, k.place)
		}
		if got, ok := x.Hits(k.hash, k.place); !ok || got != hits {
			t.Fatalf("Hits(%x, %v) = %d, %v, want %d, true", k.hash, k.place, got, ok, hits)
		}
	}
	if x.Len() != len(m) || x.used() != len(m) {
		t.Fatalf("Len() = %d with %d slots in use, want %d", x.Len(), x.used(), len(m))
	}
	var classes [MaxClass + 1]int64
	for k := range m {
		classes[k.place.Class]++
	}
	if got := x.Classes(); got != classes {
		t.Fatalf("Classes() = %v, want %v", got, classes)
	}
}

// drop forgets the word that a Put has pushed out. The index does not know whole
// hashes; in the tests no two words have the same place.
func (m model) drop(t *testing.T, lost Place) {
	t.Helper()
	for k := range m {
		if k.place == lost {
			delete(m, k)
			return
		}
	}
	t.Fatalf("pushed out %v, which was not in", lost)
}

func (x *Index) used() int {
	n := 0
	for i := range x.buckets {
		_, free := x.buckets[i].free()
		n += bucketSlots - free
	}
	return n
}

// TestAgreesWithAMap makes random calls on an index that is full most of the time,
// and the same on a map.
func TestAgreesWithAMap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x, m := New(rng.IntN(200)), model{}
		for n := range 2000 {
			step(t, x, m, rng.IntN(7), hashOf(rng.IntN(300)), placeOf(n))
		}
		m.check(t, x)
	}
}

// step makes the call of that kind with hash h on both, and compares what they say.
// p is a place that no word has.
func step(t *testing.T, x *Index, m model, kind int, h uint64, p Place) {
	t.Helper()
	there, ok := m.placeOf(h)
	k := held{h, there}
	switch kind {
	case 0, 1:
		lost, wasLost := x.Put(h, p)
		if wasLost {
			m.drop(t, lost)
		}
		m[held{h, p}] = 0
	case 2:
		if got := x.Remove(h, there); got != ok {
			t.Fatalf("Remove(%x, %v) = %v, want %v", h, there, got, ok)
		}
		delete(m, k)
	case 3:
		if got := x.Swap(h, there, p); got != ok {
			t.Fatalf("Swap(%x, %v) = %v, want %v", h, there, got, ok)
		}
		if ok {
			m[held{h, p}] = m[k]
			delete(m, k)
		}
	case 4, 5:
		x.Touch(h, there)
		if ok {
			m[k] = min(m[k]+1, MaxHits)
		}
	case 6:
		had, got := x.Cool(h, there)
		if got != ok || had != m[k] {
			t.Fatalf("Cool(%x, %v) = %d, %v, want %d, %v", h, there, had, got, m[k], ok)
		}
		if ok {
			m[k] = max(had-1, 0)
		}
	}
}

// placeOf returns the least place of h.
func (m model) placeOf(h uint64) (least Place, ok bool) {
	for k := range m {
		if k.hash == h && (!ok || newWord(1, k.place) < newWord(1, least)) {
			least, ok = k.place, true
		}
	}
	return least, ok
}

func FuzzAgreesWithAMap(f *testing.F) {
	f.Add(3, []byte("\x00\x01\x00\x02\x04\x01\x03\x01\x06\x01\x02\x02"))
	f.Fuzz(func(t *testing.T, objects int, calls []byte) {
		x, m := New(objects&0xff), model{}
		for n := 0; n+1 < len(calls) && n < 2000; n += 2 {
			step(t, x, m, int(calls[n]%7), hashOf(int(calls[n+1])), placeOf(n))
		}
		m.check(t, x)
	})
}
