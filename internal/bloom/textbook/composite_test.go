package textbook

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

// compose adds all keys, deletes the first so many of them, and returns the
// composite.
func compose(added, deleted Set, keys [][2]uint64, gone int) *Composite {
	c := NewComposite(added, deleted)
	for _, h := range keys {
		c.Add(h[0], h[1])
	}
	for _, h := range keys[:gone] {
		c.Delete(h[0], h[1])
	}
	return c
}

// The secondary filter is made to err, so that its errors can be counted.
func TestCompositeErrsAsItsFiltersSay(t *testing.T) {
	testkit.Plain(t, "one goroutine asks a filter")
	const n, gone, queries = 100_000, 20_000, 1_000_000
	keys := hashes(71, n)
	f := func(name string, added, deleted Set, a, b, unseen float64) {
		t.Helper()
		c := compose(added, deleted, keys, gone)
		for _, h := range keys[:gone] {
			if c.Has(h[0], h[1]) {
				t.Fatalf("%s: deleted key %x: got found, want denied", name, h)
			}
		}
		denied := 0
		for _, h := range keys[gone:] {
			if !c.Has(h[0], h[1]) {
				denied++
			}
		}
		falsePositive, falseNegative := CompositeRates(a, b)
		near(t, name+": false negatives", float64(denied)/(n-gone), falseNegative, 0.1)
		got := measure(72, queries, c.Has)
		near(t, name+": false positives", got, unseen, 0.1)
		if got > falsePositive*1.02 {
			t.Errorf("%s: false positives: got %v, want no more than %v", name, got, falsePositive)
		}
	}
	const m, k = 8 * n, 4
	a := ExactRate(m, k, n)
	small := uint64(5 * gone)
	b := ExactRate(small, 3, gone)
	f("own size", NewFilter(m, k), NewFilter(small, 3), a, b, a*(1-b))
	rows := ExactPartitionedRate(small/3, 3, gone)
	f("partitioned", NewFilter(m, k), NewPartitioned(small/3, 3), a, rows, a*(1-rows))
	// Of equal filters every bit of the second is one of the first.
	const tight = 3 * n
	a, b = ExactRate(tight, 2, n), ExactRate(tight, 2, gone)
	f("equal parameters", NewFilter(tight, 2), NewFilter(tight, 2), a, b, a-b)
}

func TestCompositeForgetsOneKeyForGood(t *testing.T) {
	c := NewComposite(NewFilter(1<<16, 7), NewFilter(1<<16, 7))
	keys := hashes(73, 3)
	gone, kept, never := keys[0], keys[1], keys[2]
	if !c.Add(gone[0], gone[1]) || !c.Add(kept[0], kept[1]) {
		t.Error("added keys: got not found, want found")
	}
	if c.Delete(never[0], never[1]) {
		t.Error("delete of a key never added: got true, want false")
	}
	if !c.Add(never[0], never[1]) {
		t.Error("a key deleted before it was ever added: got denied, want found, for that Delete was none")
	}
	if !c.Delete(gone[0], gone[1]) {
		t.Error("first delete: got false, want true")
	}
	if c.Delete(gone[0], gone[1]) {
		t.Error("second delete: got true, want false")
	}
	if c.Has(gone[0], gone[1]) || !c.Has(kept[0], kept[1]) {
		t.Errorf("got deleted %v, kept %v, want false and true", c.Has(gone[0], gone[1]), c.Has(kept[0], kept[1]))
	}
	if c.Add(gone[0], gone[1]) || c.Has(gone[0], gone[1]) {
		t.Error("deleted key added again: got found, want Add to say that it will not be")
	}
}

// The one who adds a key that is denied by mistake is told so.
func TestAddTellsOfAFalseNegative(t *testing.T) {
	keys := hashes(74, 4000)
	c := compose(NewFilter(1<<18, 7), NewFilter(4096, 2), keys[:2000], 2000)
	denied := 0
	for _, h := range keys[2000:] {
		found := c.Add(h[0], h[1])
		if found != c.Has(h[0], h[1]) {
			t.Fatalf("key %x: Add says %v, Has %v", h, found, !found)
		}
		if !found {
			denied++
		}
	}
	_, b := CompositeRates(0, ExactRate(4096, 2, 2000))
	near(t, "denied", float64(denied)/2000, b, 0.1)
}
