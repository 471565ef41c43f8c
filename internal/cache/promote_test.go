package cache

import (
	"fmt"
	"slices"
	"testing"
)

func TestSecondRequestIsAHitAndMovesTheEntryOn(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	e := plain("/a", 7, 100)
	mustStage(t, s, e)
	got, tier := findIn(s, e.Key, e.Name)
	if tier != Stage || versionOf(got) != 7 {
		t.Errorf("Find: got tier %v, want stage", tier)
	}
	mustPromote(t, s, "/a")
	if got, tier := findIn(s, e.Key, e.Name); tier != Memory || versionOf(got) != 7 {
		t.Errorf("Find: got tier %v, want memory", tier)
	}
	if s.Promote(e.Key, e.Name, 0) {
		t.Error("Promote: got true again, want false")
	}
	st := s.Stats()
	if st.Stage.Writes != 1 || st.Stage.Promoted != 1 || st.Stage.Objects != 0 {
		t.Errorf("stage: got %+v, want 1 write, 1 promoted, none held", st.Stage)
	}
	if st.Writes != 1 || st.WriteBytes != 100 || st.Objects != 1 {
		t.Errorf("memory: got %+v, want 1 write of 100 bytes, held", st.TierStats)
	}
	checkBooks(t, s, namesOf(e))
}

func TestPromoteTakesOnlyWhatIsStagedUnderTheName(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	mustPut(t, s, plain("/memory", 0, 8))
	mustStage(t, s, plain("/staged", 0, 8))
	before := s.Stats()
	f := func(what string, k Key, name string) {
		t.Helper()
		if s.Promote(k, []byte(name), 0) {
			t.Errorf("%s: got true, want false", what)
		}
		if after := s.Stats(); after != before {
			t.Errorf("%s: got %+v, want it unchanged %+v", what, after, before)
		}
	}
	f("absent", sum("/absent"), "/absent")
	f("in memory already", sum("/memory"), "/memory")
	f("equal hash", sum("/staged"), "/other")
}

func TestPromotedMeansStoredAlsoInAFullCache(t *testing.T) {
	s := newStagedStore(t, 128<<10)
	names := map[string]Key{}
	for i := range 3000 {
		e := plain(fmt.Sprintf("/%d", i), 0, 1000)
		names[string(e.Name)] = e.Key
		mustStage(t, s, e)
		if i%2 == 0 {
			continue
		}
		mustPromote(t, s, string(e.Name))
		if got := tierOf(s, string(e.Name)); got != Memory {
			t.Fatalf("entry %d: got tier %v right after its promotion, want memory", i, got)
		}
	}
	st := s.Stats()
	if st.Writes != 1500 || st.Stage.Promoted != 1500 || st.Capacity+st.Rejected == 0 {
		t.Errorf("got %d writes, %d promoted, %d evicted; want 1500 each and a full cache",
			st.Writes, st.Stage.Promoted, st.Capacity+st.Rejected)
	}
	checkBooks(t, s, names)
}

// Of one key, the newest version must be found, and only that, whatever tier it or
// its forerunner is in.
func TestReplacementAcrossTiersServesTheNewest(t *testing.T) {
	put := func(s *Store, e *Entry) { mustPut(t, s, e) }
	stage := func(s *Store, e *Entry) { mustStage(t, s, e) }
	promote := func(s *Store, e *Entry) { mustStage(t, s, e); mustPromote(t, s, string(e.Name)) }
	f := func(what string, first, second func(*Store, *Entry), from, to Tier) {
		t.Helper()
		for _, fresh := range []func() *Entry{
			func() *Entry { return plain("/a", 0, 100) },
			func() *Entry { return variant("/a", "1", 100, "Accept") },
		} {
			s := newStagedStore(t, 64<<10)
			old, e := fresh(), fresh()
			e.Content = InMemory(body(1, 50))
			first(s, old)
			if got := tierOf(s, string(e.Name)); got != from {
				t.Errorf("%s: got tier %v first, want %v", what, got, from)
			}
			second(s, e)
			if got, tier := findIn(s, e.Key, e.Name); tier != to || versionOf(got) != 1 {
				t.Errorf("%s: got tier %v, want the newest in %v", what, tier, to)
			}
			st := s.Stats()
			if st.Replaced+st.Stage.Replaced != 1 || s.Objects() != 1 {
				t.Errorf("%s: got %d + %d replaced and %d held, want 1 and 1", what, st.Replaced, st.Stage.Replaced, s.Objects())
			}
			checkStage(t, s)
			if n := s.Purge(e.URL, e.urlName()); n != 1 || s.Objects() != 0 {
				t.Errorf("%s: Purge: got %d objects and %d left, want 1 and none", what, n, s.Objects())
			}
		}
	}
	f("staged twice", stage, stage, Stage, Stage)
	f("staged, then put", stage, put, Stage, Memory)
	f("promoted, then put", promote, put, Memory, Memory)
}

// A held-back response, whose fetch may have begun long before, must not remove what
// admission let in: not the same key, and nothing that needs its place in the index.
func TestAHeldBackResponseNeverRemovesAnAdmittedOne(t *testing.T) {
	window := func(s *Store, e *Entry) { mustPut(t, s, e) }
	main := func(s *Store, e *Entry) { mustPut(t, s, e); pushOut(t, s) }
	promoted := func(s *Store, e *Entry) { mustStage(t, s, e); mustPromote(t, s, string(e.Name)) }
	f := func(what string, admitted, heldBack *Entry) {
		t.Helper()
		for where, admit := range map[string]func(*Store, *Entry){"window": window, "main": main, "promoted": promoted} {
			s := newStagedStore(t, 64<<10)
			admit(s, admitted)
			mustStage(t, s, plain("/other", 0, 8))
			before := s.Stats()
			if got := s.PutStage(heldBack, func() bool { return false }); got != Superseded {
				t.Errorf("%s, %s: got %v, want %v", what, where, got, Superseded)
			}
			if after := s.Stats(); after != before {
				t.Errorf("%s, %s: got %+v, want it unchanged %+v", what, where, after, before)
			}
			if e, tier := findIn(s, admitted.Key, admitted.Name); tier != Memory || !e.Content().same(admitted.Content) {
				t.Errorf("%s, %s: got tier %v, want what was admitted, in memory", what, where, tier)
			}
			if got := fieldsOf(s, "/a"); !slices.Equal(got, admitted.Vary) {
				t.Errorf("%s, %s: Vary: got %q, want %q", what, where, got, admitted.Vary)
			}
			checkStage(t, s)
		}
	}
	one, two := plain("/a", 1, 100), variant("/a", "1", 100, "Accept")
	f("the same key", one, plain("/a", 2, 50))
	f("the same variant", two, variant("/a", "1", 50, "Accept"))
	f("Vary changes, one key", two, variant("/a", "1", 50, "Cookie"))
	collides := plain("/b", 0, 8)
	collides.Key, collides.URL = one.Key, one.Key
	f("another URL of the same hash", one, collides)
	collides = variant("/b", "1", 8, "Accept")
	collides.URL = two.URL
	f("variant of another URL of the same hash", two, collides)
}

// What main has evicted supersedes nothing, though the index still knows of it.
func TestWhatIsGoneFromMemorySupersedesNothing(t *testing.T) {
	f := func(what string, gone, e *Entry) {
		t.Helper()
		s := newStagedStore(t, 64<<10)
		mustPut(t, s, gone)
		s.mu.Lock()
		s.removeLocked(gone.Key, []byte("/a"), capacity) // what an eviction would do
		s.mu.Unlock()
		mustStage(t, s, e)
		if got := tierOf(s, string(e.Name)); got != Stage {
			t.Errorf("%s: got tier %v, want stage", what, got)
		}
		if len(e.Vary) > 0 && !slices.Contains(listsOf(s, "/a"), e.Vary[0]) {
			t.Errorf("%s: Vary: got %q, want %q among them", what, listsOf(s, "/a"), e.Vary)
		}
		checkStage(t, s)
	}
	one, two := plain("/a", 1, 100), variant("/a", "1", 100, "Accept")
	f("the same key", one, plain("/a", 2, 50))
	f("Vary comes", one, two)
	f("Vary goes", two, one)
	f("Vary changes", two, variant("/a", "2", 50, "Cookie"))
}

// What a URL varies by is told of both tiers, and nothing in either of them leaves for what varies by something else.
func TestListsOfBothTiersAreTold(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	var held []string
	f := func(step string, put func(testing.TB, *Store, *Entry), e *Entry, lists ...string) {
		t.Helper()
		put(t, s, e)
		if got := listsOf(s, "/a"); !slices.Equal(got, lists) {
			t.Errorf("%s: Vary: got %q, want %q", step, got, lists)
		}
		if !slices.Contains(held, string(e.Name)) {
			held = append(held, string(e.Name))
		}
		for _, name := range held {
			if !holds(s, name) {
				t.Errorf("%s: %q: got a miss, want it kept", step, name)
			}
		}
		if got, want := s.Objects(), int64(len(held)); got != want {
			t.Errorf("%s: got %d objects, want only %q", step, got, held)
		}
		checkStage(t, s)
	}
	promote := func(tb testing.TB, s *Store, e *Entry) { tb.Helper(); mustPromote(tb, s, string(e.Name)) }
	f("staged, no Vary", mustStage, plain("/a", 0, 8))
	f("staged, Vary comes", mustStage, variant("/a", "1", 8, "Accept"), "Accept")
	f("in memory, another variant", mustPut, variant("/a", "2", 8, "Accept"), "Accept")
	f("staged, other fields", mustStage, variant("/a", "3", 8, "Cookie"), "Accept", "Accept", "Cookie")
	f("promoted, as in memory", promote, variant("/a", "1", 8, "Accept"), "Accept", "Accept", "Cookie")
	f("promoted, other fields", promote, variant("/a", "3", 8, "Cookie"), "Accept", "Cookie")
	f("in memory, more fields", mustPut, variant("/a", "4,x", 8, "Accept", "Cookie"), "Accept", "Cookie", "Accept,Cookie")
	f("promoted, no Vary", promote, plain("/a", 0, 8), "Accept", "Cookie", "Accept,Cookie")
	f("staged, as in memory", mustStage, variant("/a", "6", 8, "Cookie"), "Accept", "Cookie", "Accept,Cookie")
	if n := s.Purge(sum("/a"), []byte("/a")); n != len(held) || s.Objects() != 0 || listsOf(s, "/a") != nil {
		t.Errorf("Purge: got %d objects, %d left by %q; want all %d gone", n, s.Objects(), listsOf(s, "/a"), len(held))
	}
}

// MaxVariants is of one URL in both tiers together. The staged give way first;
// where there are none, the newcomer does.
func TestVariantsOfAURLAreBoundedAcrossTiers(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 3, StageBytes: 64 << 10})
	of := func(v string) *Entry { return variant("/a", v, 8, "Accept") }
	f := func(step string, want ...string) {
		t.Helper()
		var got []string
		for _, v := range []string{"1", "2", "3", "4", "5", "6", "7"} {
			switch tierOf(s, "/a\x00"+v) {
			case Memory:
				got = append(got, "M"+v)
			case Stage:
				got = append(got, "S"+v)
			case None:
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
		checkStage(t, s)
	}
	mustPut(t, s, of("1"))
	mustStage(t, s, of("2"))
	mustStage(t, s, of("3"))
	f("full", "M1", "S2", "S3")
	mustStage(t, s, of("4"))
	f("one more staged", "M1", "S3", "S4")
	mustPut(t, s, of("5"))
	f("one more in memory", "M1", "S4", "M5")
	mustPromote(t, s, "/a\x004")
	f("promoted", "M1", "M4", "M5")
	if got := s.PutStage(of("6"), nil); got != TooLarge {
		t.Errorf("PutStage beside a full memory tier: got %v, want %v", got, TooLarge)
	}
	f("refused", "M1", "M4", "M5")
	if got := s.PutStage(of("5"), nil); got != Superseded {
		t.Errorf("PutStage of one in memory: got %v, want %v", got, Superseded)
	}
	f("superseded", "M1", "M4", "M5")
	mustPut(t, s, of("7"))
	f("nothing staged to give way: the one that was asked for least goes", "M1", "M5", "M7")
	if st := s.Stats(); st.Stage.Variants != 2 || st.Variants != 1 || st.Stage.Replaced != 0 || st.Replaced != 0 {
		t.Errorf("got evicted %d staged and %d in memory, replaced %d and %d; want 2, 1, 0, 0",
			st.Stage.Variants, st.Variants, st.Stage.Replaced, st.Replaced)
	}
}

// What main evicted takes up no place that a staged variant could have.
func TestVariantsGoneFromMemoryLeaveTheirPlaceToStagedOnes(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, StageBytes: 64 << 10})
	gone := variant("/a", "1", 8, "Accept")
	mustPut(t, s, gone)
	s.mu.Lock()
	s.removeLocked(gone.Key, []byte("/a"), capacity) // what an eviction would do
	s.mu.Unlock()
	mustStage(t, s, variant("/a", "2", 8, "Accept"))
}

// Keys with equal hashes replace each other, and no other URL pays for it.
func TestEqualHashesAreAMissInTheStageToo(t *testing.T) {
	k := Key{Hi: 1, Lo: 2}
	one := &Entry{Key: k, Name: []byte("/one"), URL: k, Content: InMemory(body(1, 8))}
	f := func(what string, two *Entry, store func(*Store, *Entry) Outcome, want Tier) {
		t.Helper()
		s := newStagedStore(t, 64<<10)
		mustStage(t, s, one)
		if _, tier := findIn(s, k, two.Name); tier != None {
			t.Errorf("%s: Find of another name: got tier %v, want none", what, tier)
		}
		if n := s.Purge(k, []byte("/other")); n != 0 {
			t.Errorf("%s: Purge of another name: got %d objects, want 0", what, n)
		}
		if got := store(s, two); got != Stored {
			t.Errorf("%s: got %v, want stored", what, got)
		}
		if _, tier := findIn(s, k, two.Name); tier != want {
			t.Errorf("%s: got tier %v, want %v", what, tier, want)
		}
		if _, tier := findIn(s, k, one.Name); tier != None || s.Objects() != 1 {
			t.Errorf("%s: the other: got tier %v and %d objects, want none and 1", what, tier, s.Objects())
		}
		checkStage(t, s)
	}
	stage := func(s *Store, e *Entry) Outcome { return s.PutStage(e, nil) }
	put := func(s *Store, e *Entry) Outcome { return s.Put(e, nil) }
	two := &Entry{Key: k, Name: []byte("/two"), URL: k, Content: InMemory(body(2, 8))}
	f("staged", two, stage, Stage)
	f("put", two, put, Memory)
	v := variant("/v", "1", 8, "Accept")
	v.Key = k
	f("variant staged", v, stage, Stage)
	f("variant put", v, put, Memory)

	s := newStagedStore(t, 64<<10) // and a staged variant gives way to another URL's
	w := variant("/w", "1", 8, "Accept")
	w.Key = k
	mustStage(t, s, v)
	mustStage(t, s, w)
	if fieldsOf(s, "/v") != nil || fieldsOf(s, "/w") == nil {
		t.Errorf("got fields %q and %q, want those of the second only", fieldsOf(s, "/v"), fieldsOf(s, "/w"))
	}
	checkStage(t, s)
}

func TestUnlessKeepsAPurgedResponseOutOfTheStage(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	mustStage(t, s, plain("/a", 1, 8))
	asked := 0
	got := s.PutStage(plain("/a", 2, 8), purgedUnderLock(t, s, &asked))
	if got != Purged || asked != 1 {
		t.Errorf("PutStage: got %v after %d questions, want %v after 1", got, asked, Purged)
	}
	if e, tier := findIn(s, sum("/a"), []byte("/a")); tier != Stage || versionOf(e) != 1 {
		t.Errorf("Find: got tier %v, want version 1 untouched", tier)
	}
}
