package cache

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dgraph-io/ristretto/v2"
)

func TestSimultaneousPromotionsCountOnce(t *testing.T) {
	const entries, callers = 300, 4
	s := newStagedStore(t, 512<<10)
	var won [entries]atomic.Int64
	for i := range entries {
		mustStage(t, s, plain(fmt.Sprintf("/%d", i), 0, 8))
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := range entries {
				name := fmt.Sprintf("/%d", i)
				if s.Promote(sum(name), []byte(name), 0) {
					won[i].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Errorf("entry %d: got %d promotions, want 1", i, n)
		}
	}
	if st := s.Stats(); st.Writes != entries || st.Stage.Promoted != entries {
		t.Errorf("got %d writes and %d promoted, want %d each", st.Writes, st.Stage.Promoted, entries)
	}
}

// Looking up while an entry is replaced and moved, from tier to tier and on to
// main, finds what the last write before the look-up stored, or what one beside it
// stores. Nothing is evicted here: all fits. Each round has a URL of its own, since
// what was admitted is not staged again.
func TestMovingIsNeverAMiss(t *testing.T) {
	const rounds = 900 // so many URLs have room in the index
	f := func(what, values string, fresh func(url string) *Entry) {
		t.Helper()
		s := newStoreOf(t, Options{MaxBytes: 8 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: 1 << 20})
		version := func(round, version uint64) *Entry {
			e := fresh(fmt.Sprintf("/%d", round))
			e.Content = InMemory(body(version, 100))
			return e
		}
		mustStage(t, s, version(0, 0))
		var stored atomic.Uint64 // round and version of the last write that returned
		var wg sync.WaitGroup
		done := make(chan struct{})
		wg.Go(func() {
			for {
				last := stored.Load()
				e, ok := get(s, fmt.Sprintf("/%d", last/4), values)
				if !ok || versionOf(e) < last%4 {
					t.Errorf("%s, round %d: got a hit %v, want version %d or newer", what, last/4, ok, last%4)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
		var filler []*Entry
		for i := range 4 {
			filler = append(filler, plain(fmt.Sprintf("/filler/%d", i), 0, 60<<10))
		}
		for round := range uint64(rounds) {
			mustStage(t, s, version(round, 0))
			stored.Store(4 * round)
			e := version(round, 1)
			mustStage(t, s, e)
			stored.Store(4*round + 1)
			mustPromote(t, s, string(e.Name))
			for i := range round % 5 { // the window holds two: half the time it is in main when its turn comes
				mustPut(t, s, filler[i])
			}
			if round%3 == 0 {
				mustPut(t, s, version(round, 2))
				stored.Store(4*round + 2)
			}
		}
		close(done)
		wg.Wait()
		st := s.Stats()
		if n := st.Capacity + st.Rejected + st.Variants + st.Stage.Capacity; n != 0 {
			t.Errorf("%s: got %d evictions, want none", what, n)
		}
	}
	f("plain", "", func(url string) *Entry { return plain(url, 0, 0) })
	f("variant", "1", func(url string) *Entry { return variant(url, "1", 0, "Accept") })
}

// A promotion into a full window waits for ristretto; the entry stays staged
// until it has landed.
func TestStagedEntryIsFoundWhileItsPromotionMakesRoom(t *testing.T) {
	s := newRistrettoStore(t)
	e := variant("/a", "1", 8, "Accept")
	mustStage(t, s, e)
	for i := range 20 {
		mustPut(t, s, plain(fmt.Sprintf("/%d", i), 0, 16<<10))
	}
	var seen []Tier
	var fields []string
	moved := func(i *ristretto.Item[uint32]) { // on ristretto's worker, with the writer waiting
		fields = fieldsOf(s, "/a")
		seen = append(seen, tierOf(s, "/a\x001"))
		s.main.left(s.main.blocks.at(i.Value), rejected, i.Cost)
	}
	refuse, err := ristretto.NewCache(&ristretto.Config[uint64, uint32]{
		NumCounters: 1000, MaxCost: 1, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(k uint64) (uint64, uint64) { return k, 0 }, OnReject: moved,
	})
	if err != nil {
		t.Fatal(err)
	}
	k := s.main.keeper.(*sampled) //nolint:forcetypeassert // the options ask for it
	t.Cleanup(k.cache.Close)
	k.cache = refuse
	s.limits.windowBytes, s.limits.offerBytes = s.window.bytes.Load(), 0 // full
	mustPromote(t, s, "/a\x001")
	if !slices.Equal(seen, []Tier{Stage}) || len(fields) != 1 {
		t.Errorf("while room is made: got tiers %v and fields %q, want it staged", seen, fields)
	}
	if got := tierOf(s, "/a\x001"); got != Memory {
		t.Errorf("then: got tier %v, want memory", got)
	}
}

// A promotion must not bring back what a purge has removed.
func TestPurgeBeatsPromotions(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	name, k := []byte("/a"), sum("/a")
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				s.Promote(k, name, 0)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 3000 {
		mustStage(t, s, plain("/a", 0, 8))
		if n := s.Purge(k, name); n != 1 {
			t.Fatalf("Purge: got %d objects, want 1", n)
		}
		if got := tierOf(s, "/a"); got != None {
			t.Fatalf("after the purge: got tier %v, want none", got)
		}
	}
	close(done)
	wg.Wait()
}
