package cache

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
)

// A second request must not buy an entry more time in the stage: what is asked
// for is promoted.
func TestStageLetsTheOldestLeaveFirstHoweverOftenItIsAskedFor(t *testing.T) {
	const bodyBytes, fit = 1000, 20
	s := newStagedStore(t, fit*plain("/000", 0, bodyBytes).Cost())
	for i := range 100 {
		name := fmt.Sprintf("/%03d", i)
		mustStage(t, s, plain(name, 0, bodyBytes))
		want := []string{}
		for j := max(0, i-fit+1); j <= i; j++ {
			want = append(want, fmt.Sprintf("/%03d", j))
		}
		if got := stagedNames(s); !slices.Equal(got, want) {
			t.Fatalf("after %d: got %q, want the last %d: %q", i, got, fit, want)
		}
		for _, held := range want {
			if got := tierOf(s, held); got != Stage {
				t.Fatalf("after %d: %s: got tier %v, want stage", i, held, got)
			}
		}
	}
	st := s.Stats()
	if st.Stage.Capacity != 80 || st.Stage.Objects != fit || st.Writes != 0 {
		t.Errorf("got %d evicted and %d held, %d writes to memory; want 80, %d and none",
			st.Stage.Capacity, st.Stage.Objects, st.Writes, fit)
	}
}

func TestWithoutAStageNothingIsStaged(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	e := plain("/a", 0, 8)
	if s.Takes(8, e, false) || s.Takes(0, nil, false) {
		t.Error("Takes: got true, want false")
	}
	if got := s.PutStage(e, nil); got != TooLarge {
		t.Errorf("PutStage: got %v, want %v", got, TooLarge)
	}
	if s.Promote(e.Key, e.Name, 0) || tierOf(s, "/a") != None {
		t.Error("got it promoted or found, want neither")
	}
}

func TestTooLargeForTheStageIsRefusedAndChangesNothing(t *testing.T) {
	s := newStagedStore(t, 16<<10)
	mustPut(t, s, plain("/memory", 1, 100))
	mustStage(t, s, plain("/staged", 1, 100))
	before := s.Stats()
	f := func(what string, e *Entry, want bool) {
		t.Helper()
		if got := s.Takes(e.Content.Size(), e, false); got != want {
			t.Errorf("%s: Takes: got %v, want %v", what, got, want)
		}
		if want {
			return
		}
		if got := s.PutStage(e, func() bool { t.Error("unless: asked about what cannot be stored"); return false }); got != TooLarge {
			t.Errorf("%s: PutStage: got %v, want %v", what, got, TooLarge)
		}
		if after := s.Stats(); after != before {
			t.Errorf("%s: got %+v, want it unchanged %+v", what, after, before)
		}
	}
	for _, url := range []string{"/memory", "/staged"} {
		head := plain(url, 2, 8<<10).Cost() - (8 << 10) // cost of a head that lies in no region
		f("exactly the stage", plain(url, 2, int(16<<10-head)), true)
		f("a byte more", plain(url, 2, int(16<<10-head)+1), false)
		large := plain(url, 2, 8)
		large.Header = field.List{{Name: "X", Value: strings.Repeat("x", 16<<10)}}
		f("header", large, false)
	}
	fits := variant("/v", "1", 8, "Accept")
	f("variant with its record", fits, true)
	fits.Content = InMemory(make([]byte, 16<<10-(fits.Cost()-8)))
	f("variant whose record is too much", fits, false)

	s = newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 1000, MaxVariants: 1, StageBytes: 64 << 10})
	before = s.Stats()
	f("body for the memory tier", plain("/a", 0, 1001), false)
	f("URL for the memory tier's index", variant("/a"+strings.Repeat("x", 40<<10), "1", 8, "Accept"), false)
	if s.Takes(1001, nil, false) || !s.Takes(1000, nil, false) {
		t.Errorf("Takes of no head: got %v for 1001 bytes and %v for 1000, want false and true",
			s.Takes(1001, nil, false), s.Takes(1000, nil, false))
	}
}

// The largest body that fits the stage leaves no room beside itself; replacing
// it must neither break the bound nor fail.
func TestStageReplacesWhatFillsIt(t *testing.T) {
	s := newStagedStore(t, 8<<10)
	f := func(version uint64, bodyBytes int, others ...string) {
		t.Helper()
		mustStage(t, s, plain("/a", version, bodyBytes))
		if e, tier := findIn(s, sum("/a"), []byte("/a")); tier != Stage || versionOf(e) != version {
			t.Errorf("version %d: got tier %v, want it staged", version, tier)
		}
		if got, want := stagedNames(s), append(others, "/a"); !slices.Equal(got, want) {
			t.Errorf("version %d: got %q staged, want %q", version, got, want)
		}
		checkBooks(t, s, map[string]Key{"/a": sum("/a"), "/b": sum("/b"), "/c": sum("/c")})
	}
	f(1, 7000)
	f(2, 7000)
	f(3, 100)
	mustStage(t, s, plain("/b", 0, 100))
	mustStage(t, s, plain("/c", 0, 3000))
	f(4, 4000, "/c") // /a is the oldest, but /b goes
	st := s.Stats().Stage
	if st.Replaced != 3 || st.Capacity != 1 {
		t.Errorf("got %d replaced and %d evicted, want 3 and 1", st.Replaced, st.Capacity)
	}
}

// A record must not outlive the variants it lists: nobody would bound it.
func TestStagedVariantTakesItsRecordAlong(t *testing.T) {
	f := func(what string, leave func(*Store)) {
		t.Helper()
		s := newStagedStore(t, 16<<10)
		mustStage(t, s, variant("/a", "1", 8, "Accept"))
		mustStage(t, s, variant("/a", "2", 8, "Accept"))
		if got := fieldsOf(s, "/a"); !slices.Equal(got, []string{"Accept"}) {
			t.Errorf("%s: Vary: got %q before, want Accept", what, got)
		}
		leave(s)
		if n := s.stage.urls.count.Load(); n != 0 {
			t.Errorf("%s: got %d records, want none", what, n)
		}
		checkStage(t, s)
	}
	f("evicted", func(s *Store) { mustStage(t, s, plain("/b", 0, 15900)) })
	f("purged", func(s *Store) {
		if n := s.Purge(sum("/a"), []byte("/a")); n != 2 {
			t.Errorf("Purge: got %d objects, want 2", n)
		}
	})
	f("replaced in memory", func(s *Store) {
		mustPut(t, s, variant("/a", "1", 8, "Accept"))
		mustPut(t, s, variant("/a", "2", 8, "Accept"))
	})
	f("promoted", func(s *Store) { mustPromote(t, s, "/a\x001"); mustPromote(t, s, "/a\x002") })
}

// A crawl over URLs that vary must not reach what admission let in through the
// index of variants.
func TestStagedCrawlEvictsNothingFromMemory(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	names := map[string]Key{}
	for i := range 60 { // nearly all that the index holds
		e := variant(fmt.Sprintf("/admitted/%d", i), "1", 8, "Accept")
		mustPut(t, s, e)
		names[string(e.Name)] = e.Key
	}
	before := s.Stats()
	for i := range 5000 {
		e := variant(fmt.Sprintf("/crawled/%d", i), "1", 100, "Accept")
		mustStage(t, s, e)
		if _, ok := get(s, fmt.Sprintf("/crawled/%d", i), "1"); !ok {
			t.Fatalf("%q: got a miss right after PutStage", e.Name)
		}
		names[string(e.Name)] = e.Key
	}
	after := s.Stats()
	if after.TierStats != before.TierStats || after.IndexBytes != before.IndexBytes {
		t.Errorf("memory: got %+v, want it unchanged %+v", after.TierStats, before.TierStats)
	}
	for i := range 60 {
		if _, ok := get(s, fmt.Sprintf("/admitted/%d", i), "1"); !ok {
			t.Errorf("/admitted/%d: got a miss, want it kept", i)
		}
	}
	checkBooks(t, s, names)
}
