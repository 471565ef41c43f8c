package cache

import (
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestLookupsDoNotAllocate(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, plain("/main", 0, 8))
	pushOut(t, s)
	mustPut(t, s, plain("/window", 0, 8))
	v := variant("/vary", "gzip", 8, "Accept-Encoding")
	mustPut(t, s, v)
	f := func(what string, look func()) {
		t.Helper()
		if n := testing.AllocsPerRun(1000, look); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", what, n)
		}
	}
	lookup := func(name string, want bool) func() {
		b, k := []byte(name), sum(name)
		return func() {
			if _, ok := find(s, k, b); ok != want {
				t.Errorf("Find(%q): got %v, want %v", name, ok, want)
			}
		}
	}
	f("hit in window", lookup("/window", true))
	f("hit in main", lookup("/main", true))
	f("miss", lookup("/missing", false))
	name := []byte("/vary")
	f("Vary", func() { s.Vary(v.URL, name) })

	s = newStagedStore(t, 64<<10)
	mustPut(t, s, plain("/main", 0, 8))
	pushOut(t, s)
	mustPut(t, s, plain("/window", 0, 8))
	mustStage(t, s, plain("/staged", 0, 8))
	mustStage(t, s, v)
	f("beside a stage, hit in window", lookup("/window", true))
	f("beside a stage, hit in main", lookup("/main", true))
	f("beside a stage, miss", lookup("/missing", false))
	f("hit in stage", lookup("/staged", true))
	f("Vary of the stage", func() { s.Vary(v.URL, name) })
	missing, k := []byte("/missing"), sum("/missing")
	f("late promotion", func() { s.Promote(k, missing, 0) })
}

// What is stored lies in a region, so it takes memory for its place in the window, and nothing that is garbage at once.
func TestStoringAllocatesWhatStays(t *testing.T) {
	testkit.Plain(t, "the race detector pads allocations")
	s := newStore(t, 256<<20, 64<<10)
	entries, body := make([]*Entry, 1001), make([]byte, 1<<10)
	for i := range entries {
		entries[i] = many(Hasher{seed: 42}, i)
	}
	at := 0
	if n := testing.AllocsPerRun(len(entries)-1, func() {
		w := s.Write()
		if o, _ := w.Commit(entries[at], body, true, nil); o != Stored {
			t.Fatalf("got %v, want stored", o)
		}
		at++
	}); n != 1 {
		t.Errorf("got %v allocations, want 1", n)
	}
}
