package queryrules

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestRuleAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	table := New(0)
	host, path := []byte("a.example"), []byte("/b")
	learn(t, table, table.Path(host, path), ignoring("u"), at(0))
	if got := testing.AllocsPerRun(100, func() {
		if table.Empty() || table.Rule(table.Path(host, path), at(0)) == nil {
			t.Fatal("got no rule")
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
