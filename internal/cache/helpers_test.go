package cache

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
)

// newStore returns a Store that is closed when the test ends.
func newStore(tb testing.TB, maxBytes, maxObjectBytes int64) *Store {
	tb.Helper()
	return newStoreOf(tb, Options{MaxBytes: maxBytes, MaxObjectBytes: maxObjectBytes, MaxVariants: 32})
}

// anyEviction is the eviction of the stores of tests that hold for any.
var anyEviction = func() Eviction {
	if os.Getenv("EDGEPROXY_TEST_EVICTION") == "ristretto" {
		return Ristretto
	}
	return SizeAware
}()

func newStoreOf(tb testing.TB, o Options) *Store {
	tb.Helper()
	if o.Eviction == 0 {
		o.Eviction = anyEviction
	}
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// newRistrettoStore returns a Store of 1 MiB with ristretto and a stage of 64 KiB.
func newRistrettoStore(tb testing.TB) *Store {
	tb.Helper()
	return newStoreOf(tb, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: 64 << 10, Eviction: Ristretto})
}

// settleRistretto waits until ristretto has done what it was given.
func settleRistretto(s *Store) {
	if k, ok := s.main.keeper.(*sampled); ok {
		k.cache.Wait()
	}
}

// sum hashes with a fixed seed, so that runs repeat.
func sum(name string) Key { return Hasher{seed: 42}.Sum([]byte(name)) }

// plain returns an entry without Vary whose body has the given size and starts
// with version.
func plain(url string, version uint64, bodyBytes int) *Entry {
	k := sum(url)
	return &Entry{Key: k, Name: []byte(url), URL: k, URLLen: int32(len(url)), Status: 200, Content: InMemory(body(version, bodyBytes))}
}

// variant returns an entry of url for the given values of its Vary fields.
func variant(url, values string, bodyBytes int, fields ...string) *Entry {
	name := url + "\x00" + values
	return &Entry{
		Key: sum(name), Name: []byte(name), URL: sum(url), URLLen: int32(len(url)), Vary: fields, Status: 200,
		Content: InMemory(body(0, bodyBytes)),
	}
}

func body(version uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 0, max(n, 8)), version)[:max(n, 8)]
}

// bytesOf returns the content of o, which lies in memory.
func bytesOf(o *Object) []byte { return o.Content().bytes }

func versionOf(o *Object) uint64 { return binary.LittleEndian.Uint64(bytesOf(o)) }

// first returns the field of o that comes first, if there is one.
func first(o *Object) field.Field {
	f, _, _ := o.Header().Next()
	return f
}

// changed returns what o was made of, with a change.
func changed(o *Object, change func(e *Entry)) *Entry {
	e := o.Entry()
	change(e)
	return e
}

func mustPut(tb testing.TB, s *Store, e *Entry) {
	tb.Helper()
	if got := s.Put(e, nil); got != Stored {
		tb.Fatalf("Put(%q): got %v, want stored", e.Name, got)
	}
}

// Tier is where a look-up has found something.
type Tier uint8

const (
	None Tier = iota
	Memory
	Stage
)

// String returns the word for the tier.
func (t Tier) String() string { return [...]string{"none", memoryTier, stageTier}[t] }

// findIn is Find with the tier that it tells of.
func findIn(s *Store, k Key, name []byte) (*Object, Tier) {
	switch o, heldBack := s.Find(k, name); {
	case o == nil:
		return nil, None
	case heldBack:
		return o, Stage
	default:
		return o, Memory
	}
}

// find is Find where the tier does not matter.
func find(s *Store, k Key, name []byte) (*Object, bool) {
	e, tier := findIn(s, k, name)
	return e, tier != None
}

func holds(s *Store, name string) bool {
	_, ok := find(s, sum(name), []byte(name))
	return ok
}

// get looks url up as a request does: by the lists of names that it varies by, and then without. The name of a variant
// has values alone, so it is the same for all lists.
func get(s *Store, url, values string) (o *Object, ok bool) {
	if s.Vary(sum(url), []byte(url)).Len() > 0 {
		o, ok = find(s, sum(url+"\x00"+values), []byte(url+"\x00"+values))
	}
	if !ok {
		o, ok = find(s, sum(url), []byte(url))
	}
	return o, ok
}

// fieldsOf returns the names of the first list that url varies by, nil if there is none.
func fieldsOf(s *Store, url string) []string {
	if l := s.Vary(sum(url), []byte(url)); l.Len() > 0 {
		return l.At(0)
	}
	return nil
}

// listsOf returns the lists of names that url varies by, each as one text.
func listsOf(s *Store, url string) (lists []string) {
	l := s.Vary(sum(url), []byte(url))
	for i := range l.Len() {
		lists = append(lists, strings.Join(l.At(i), ","))
	}
	return lists
}

// newStagedStore returns a Store of 1 MiB of which the stage has stageBytes.
func newStagedStore(tb testing.TB, stageBytes int64) *Store {
	tb.Helper()
	return newStoreOf(tb, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: stageBytes})
}

func mustStage(tb testing.TB, s *Store, e *Entry) {
	tb.Helper()
	if got := s.PutStage(e, nil); got != Stored {
		tb.Fatalf("PutStage(%q): got %v, want stored", e.Name, got)
	}
}

func mustPromote(tb testing.TB, s *Store, name string) {
	tb.Helper()
	if !s.Promote(sum(name), []byte(name), 0) {
		tb.Fatalf("Promote(%q): got false, want true", name)
	}
}

func tierOf(s *Store, name string) Tier {
	_, tier := findIn(s, sum(name), []byte(name))
	return tier
}

// stagedNames returns what is staged, oldest first, without asking for it.
func stagedNames(s *Store) (names []string) {
	for slot := s.stage.items.ring.prev; slot != &s.stage.items.ring; slot = slot.prev {
		names = append(names, string(slot.value.Name()))
	}
	return names
}

// checkBooks compares the counters with what look-ups still find of names, which
// must be all ever put, and ristretto's sum with ours. No write may be in progress.
func checkBooks(tb testing.TB, s *Store, names map[string]Key) {
	tb.Helper()
	var objects, cost [Stage + 1]int64 // indexed by tier
	for name, k := range names {
		e, tier := findIn(s, k, []byte(name))
		objects[tier]++
		switch tier {
		case Memory:
			cost[tier] += s.costLocked(s.heldLocked(k))
		case Stage:
			cost[tier] += e.weight().staged()
		case None:
		}
	}
	st := s.Stats()
	check := func(tier Tier, st TierStats) {
		tb.Helper()
		if st.Objects != objects[tier] || st.Bytes != cost[tier] {
			tb.Errorf("%v: got %d objects of %d bytes held, want the %d of %d bytes found",
				tier, st.Objects, st.Bytes, objects[tier], cost[tier])
		}
		gone := st.Capacity + st.Rejected + st.Variants + st.Replaced + st.Purged + st.Promoted
		if st.Writes != st.Objects+gone {
			tb.Errorf("%v: got %d writes, want %d held + %d gone; all: %+v", tier, st.Writes, st.Objects, gone, st)
		}
		all, neverHit := st.Evicted.Sum()
		if all.Objects != st.Capacity+st.Rejected+st.Variants || neverHit.Objects > st.NeverHit || neverHit.Bytes > all.Bytes {
			tb.Errorf("%v: got %+v evicted by size, %+v of it never hit, want the same as %+v", tier, all, neverHit, st)
		}
		if st.NeverHit > gone-st.Promoted {
			tb.Errorf("%v: got %d never hit, want at most the %d gone", tier, st.NeverHit, gone)
		}
	}
	memory := st.TierStats
	memory.Bytes -= st.IndexBytes
	check(Memory, memory)
	check(Stage, st.Stage)
	settleRistretto(s)
	used := s.main.used()
	if want := memory.Bytes - s.window.bytes.Load(); used != want {
		tb.Errorf("main: got %d bytes in its books, want %d", used, want)
	}
	checkStage(tb, s)
	checkBounds(tb, s)
}

// checkStage holds the stage's three structures together.
func checkStage(tb testing.TB, s *Store) {
	tb.Helper()
	g := s.stage
	if got, want := g.items.bytes.Load(), g.books.bytes.Load(); got != want {
		tb.Errorf("stage: got %d bytes of items, want the %d of its books", got, want)
	}
	listed, urls := 0, map[Key]bool{}
	for slot := g.items.ring.prev; slot != &g.items.ring; slot = slot.prev {
		it := slot.value
		if !it.Varies() {
			continue
		}
		urls[it.URL()] = true
		listed++
		if r := g.urls.peek(it.URL()); r == nil || !r.value.describes(it) || !slices.Contains(r.value.keys, it.key) {
			tb.Errorf("stage: %q: got no record that lists it", it.Name())
		}
	}
	for slot := g.urls.ring.prev; slot != &g.urls.ring; slot = slot.prev {
		listed -= len(slot.value.keys)
	}
	if got := g.urls.count.Load(); got != int64(len(urls)) || listed != 0 {
		tb.Errorf("stage: got %d records, want %d; %d more variants than listed", got, len(urls), listed)
	}
}

// checkBounds holds at any moment, also during writes.
func checkBounds(tb testing.TB, s *Store) {
	tb.Helper()
	check := func(what string, got, most int64) {
		if got > most {
			tb.Errorf("%s: got %d bytes, want at most %d", what, got, most)
		}
	}
	check("all", s.Bytes(), s.limits.maxBytes)
	check("window", s.window.bytes.Load(), s.limits.windowBytes+s.limits.offerBytes)
	check("index", s.index.bytes.Load(), s.limits.indexBytes)
	check("stage", s.stage.books.bytes.Load(), s.limits.stageBytes)
}

// namesOf returns the keys of entries by name, for checkBooks.
func namesOf(entries ...*Entry) map[string]Key {
	names := map[string]Key{}
	for _, e := range entries {
		names[string(e.Name)] = e.Key
	}
	return names
}
