package purge_test

import (
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/test/testkit"
)

func TestCheckAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	f := func(name string, table *purge.Table, want purge.State) {
		t.Helper()
		u, tags := at("www.example.com", "/img/logo.png?size=2"), []uint64{1, 2, 3}
		if got := testing.AllocsPerRun(100, func() {
			if got := table.Check(0, u, tags); got != want {
				t.Fatalf("%s: got %v, want %v", name, got, want)
			}
		}); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
	}

	f("nothing purged", purge.New(purge.Options{}), purge.Valid)
	f("1000 marks of each kind", marked(1000), purge.Valid)
	gone := marked(10)
	gone.URL(at("www.example.com", "/img/logo.png?size=2"), false)
	f("the URL purged", gone, purge.Gone)
}
