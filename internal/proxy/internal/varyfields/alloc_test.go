package varyfields

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestLookingUpAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	table := New()
	table.Learn(1, 1, []string{"Accept-Language", "Cookie"})
	names := []string{"Accept-Language", "Cookie"}
	if got := testing.AllocsPerRun(100, func() {
		if table.Names(1, 1) == nil || table.Names(2, 1) != nil {
			t.Fatal("got another answer")
		}
		table.Learn(1, 1, names) // what is known
		table.Learn(2, 1, nil)
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkNames(b *testing.B) {
	table := New()
	for i := range uint64(MaxURLs) {
		table.Learn(i, i, []string{"Cookie"})
	}
	for i := range uint64(b.N) {
		table.Names(i, i*7)
	}
}
