package cache

import (
	"fmt"
	"testing"
)

// A store is never hit if it left without one look-up that returned it since it
// landed in the tier. What the Store asks itself is no such look-up.
func TestStoresNeverHitByDeparture(t *testing.T) {
	f := func(what string, work func(*Store), memory, stage int64) {
		t.Helper()
		s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, StageBytes: 32 << 10})
		work(s)
		if st := s.Stats(); st.NeverHit != memory || st.Stage.NeverHit != stage {
			t.Errorf("%s: got %d in memory and %d in the stage, want %d and %d",
				what, st.NeverHit, st.Stage.NeverHit, memory, stage)
		}
	}
	put := func(s *Store, name string) { mustPut(t, s, plain(name, 0, 8)) }
	stage := func(s *Store, name string) { mustStage(t, s, plain(name, 0, 8)) }
	purge := func(s *Store, name string) { s.Purge(sum(name), []byte(name)) }

	f("held", func(s *Store) { put(s, "/a"); stage(s, "/b") }, 0, 0)
	f("purged", func(s *Store) { put(s, "/a"); stage(s, "/b"); purge(s, "/a"); purge(s, "/b") }, 1, 1)
	f("hit, then purged", func(s *Store) {
		put(s, "/a")
		stage(s, "/b")
		holds(s, "/a")
		holds(s, "/b")
		purge(s, "/a")
		purge(s, "/b")
	}, 0, 0)
	f("missed by name, then purged", func(s *Store) {
		put(s, "/a")
		stage(s, "/b")
		s.Find(sum("/a"), []byte("/other"))
		s.Find(sum("/b"), []byte("/other"))
		purge(s, "/a")
		purge(s, "/b")
	}, 1, 1)
	f("replaced in its tier", func(s *Store) { put(s, "/a"); put(s, "/a"); stage(s, "/b"); stage(s, "/b") }, 1, 1)
	f("replaced by the other tier", func(s *Store) { stage(s, "/a"); put(s, "/a") }, 0, 1)
	f("hit, then replaced by a newer one that is not", func(s *Store) {
		put(s, "/a")
		holds(s, "/a")
		put(s, "/a")
		purge(s, "/a")
	}, 1, 0)
	f("one variant too many", func(s *Store) {
		mustPut(t, s, variant("/a", "1", 8, "Accept"))
		mustPut(t, s, variant("/a", "2", 8, "Accept"))
		mustStage(t, s, variant("/b", "1", 8, "Accept"))
		mustStage(t, s, variant("/b", "2", 8, "Accept"))
	}, 1, 1)
	f("evicted from the stage", func(s *Store) {
		stage(s, "/a")
		stage(s, "/hit")
		holds(s, "/hit")
		mustStage(t, s, plain("/large", 0, 32<<10-600))
	}, 0, 1)
	f("promoted", func(s *Store) { stage(s, "/a"); holds(s, "/a"); mustPromote(t, s, "/a") }, 0, 0)
	f("promoted, then purged: the hit was the stage's", func(s *Store) {
		stage(s, "/a")
		holds(s, "/a")
		mustPromote(t, s, "/a")
		purge(s, "/a")
	}, 1, 0)
	f("promoted, hit, purged", func(s *Store) {
		stage(s, "/a")
		mustPromote(t, s, "/a")
		holds(s, "/a")
		purge(s, "/a")
	}, 0, 0)
}

// Moving from the landing window to main is inside the tier: neither a hit nor
// the end of one.
func TestAHitInTheWindowIsRememberedInMain(t *testing.T) {
	f := func(what string, hit bool, want int64) {
		t.Helper()
		s := newStore(t, 1<<20, 64<<10)
		mustPut(t, s, plain("/a", 0, 8))
		if hit {
			holds(s, "/a")
		}
		pushOut(t, s) // and purges what it pushed with
		if s.window.peek(sum("/a")) != nil || s.main.find(sum("/a")) == nil {
			t.Fatalf("%s: got it elsewhere, want it in main", what)
		}
		before := s.Stats().NeverHit
		s.Purge(sum("/a"), []byte("/a"))
		if got := s.Stats().NeverHit - before; got != want {
			t.Errorf("%s: got %d never hit, want %d", what, got, want)
		}
	}
	f("hit", true, 0)
	f("not hit", false, 1)
}

// Evictions and rejections happen on ristretto's worker; all must be judged.
func TestStoresNeverHitCoverWhatMainGivesUp(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	const writes = 5000
	for i := range writes {
		name := fmt.Sprintf("/%d", i)
		mustPut(t, s, plain(name, 0, 2000))
		if i%4 == 0 {
			holds(s, name)
		}
	}
	for i := range writes {
		name := fmt.Sprintf("/%d", i)
		s.Purge(sum(name), []byte(name))
	}
	st := s.Stats()
	if st.NeverHit != writes*3/4 {
		t.Errorf("got %d never hit, want the %d that nobody asked for", st.NeverHit, writes*3/4)
	}
	if st.Capacity+st.Rejected < writes/2 {
		t.Errorf("got %d evictions, want most of %d writes", st.Capacity+st.Rejected, writes)
	}
}
