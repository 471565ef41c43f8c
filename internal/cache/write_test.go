package cache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"edgeproxy/internal/test/testkit"
)

// The promise a plain ristretto breaks: admitted means stored.
func TestTwentyThousandWritesIntoAFullCacheAreFoundAtOnce(t *testing.T) {
	const bodyBytes = 500
	s := newStore(t, 2000*(bodyBytes+entryOverhead+16), 16<<10)
	misses := 0
	for i := range 20_000 {
		name := fmt.Sprintf("/object/%d", i)
		mustPut(t, s, plain(name, 0, bodyBytes))
		if !holds(s, name) {
			misses++
		}
	}
	if misses != 0 {
		t.Errorf("next request: got %d misses of 20000, want 0", misses)
	}
	if n := s.Objects(); n < 1000 || n > 2000 {
		t.Errorf("objects: got %d, want a full cache of at most 2000", n)
	}
	if st := s.Stats(); st.Capacity+st.Rejected < 18_000 {
		t.Errorf("evictions: got %d + %d, want at least 18000: the cache was not full", st.Capacity, st.Rejected)
	}
}

// Rounds keep the writers together, so that no goroutine is so late with its
// look-up that the others have filled the cache many times over.
func TestConcurrentWritesIntoAFullCacheAreFoundAtOnce(t *testing.T) {
	const writers, rounds, bodyBytes = 16, 1250, 500
	s := newStore(t, 2000*(bodyBytes+entryOverhead+16), 16<<10)
	var misses atomic.Int64
	together := func(work func(writer int)) {
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { work(w) })
		}
		wg.Wait()
	}
	for round := range rounds {
		name := func(w int) string { return fmt.Sprintf("/%d/%d", round, w) }
		together(func(w int) { s.Put(plain(name(w), 0, bodyBytes), nil) })
		together(func(w int) {
			if !holds(s, name(w)) {
				misses.Add(1)
			}
		})
	}
	if n := misses.Load(); n != 0 {
		t.Errorf("next request: got %d misses of %d, want 0", n, writers*rounds)
	}
}

func TestReplacementServesTheNewest(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	f := func(where string, between func()) {
		t.Helper()
		for version := range uint64(5) {
			mustPut(t, s, plain("/a", version, 100+int(version)))
			between()
			e, ok := find(s, sum("/a"), []byte("/a"))
			if !ok || versionOf(e) != version {
				t.Errorf("in %s, version %d: got a hit %v, want that version", where, version, ok)
			}
		}
	}
	f("window", func() {})
	f("main", func() { pushOut(t, s) })
	s.Purge(sum("/a"), []byte("/a"))
	if st := s.Stats(); st.Replaced != 9 || st.Objects != 0 {
		t.Errorf("got %d replaced and %d held, want 9 and 0", st.Replaced, st.Objects)
	}
}

// Popular neighbours must not push out what has just landed.
func TestLandedEntryStaysForAWindowOfWrites(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	const bodyBytes = 1000
	names := map[string]Key{}
	for i := range 200 {
		e := plain(fmt.Sprintf("/%03d", i), 0, bodyBytes)
		mustPut(t, s, e)
		names[string(e.Name)] = e.Key
	}
	landed := plain("/new", 0, bodyBytes)
	mustPut(t, s, landed)
	after := s.limits.windowBytes/landed.Cost() - 1
	for i := range after {
		for name, k := range names {
			find(s, k, []byte(name))
		}
		mustPut(t, s, plain(fmt.Sprintf("/%04d", i), 0, bodyBytes-1)) // each is as large as /new
		if s.window.peek(landed.Key) == nil {
			t.Fatalf("after %d writes: got it out of the window, want it in for %d", i+1, after)
		}
	}
	if after < 50 {
		t.Errorf("got a window of %d entries, want one worth a test", after)
	}
}

// While a response is replaced, look-ups find the old one or the new one,
// wherever the old one was. Nothing is evicted here: all fits.
func TestReplacementIsNeverAMiss(t *testing.T) {
	s := newStore(t, 8<<20, 64<<10)
	mustPut(t, s, plain("/a", 0, 100))
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		name, k := []byte("/a"), sum("/a")
		for last := uint64(0); ; {
			e, ok := find(s, k, name)
			if !ok || versionOf(e) < last {
				t.Errorf("Find: got a hit %v, want version %d or newer", ok, last)
				return
			}
			last = versionOf(e)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var filler []*Entry
	for i := range 16 {
		filler = append(filler, plain(fmt.Sprintf("/filler/%d", i), 0, 16<<10))
	}
	for version := range uint64(1000) {
		mustPut(t, s, plain("/a", version+1, 100))
		for i := range 12 { // half the time /a is in main when its turn comes
			mustPut(t, s, filler[(int(version)*12+i)%len(filler)])
		}
	}
	close(done)
	wg.Wait()
	if st := s.Stats(); st.Capacity+st.Rejected != 0 {
		t.Errorf("got %d + %d evictions, want none", st.Capacity, st.Rejected)
	}
}

// purgedUnderLock is an unless that says purged. It counts its calls, and wants each of them to
// be under the lock of writers.
func purgedUnderLock(t *testing.T, s *Store, asked *int) func() bool {
	t.Helper()
	return func() bool {
		*asked++
		if s.mu.TryLock() {
			s.mu.Unlock()
			t.Error("unless: got a free lock: a purge could come between it and the landing")
		}
		return true
	}
}

func TestUnlessIsAskedOnceUnderTheLock(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, plain("/a", 1, 8))
	asked := 0
	got := s.Put(plain("/a", 2, 8), purgedUnderLock(t, s, &asked))
	if got != Purged || asked != 1 {
		t.Errorf("Put: got %v after %d questions, want %v after 1", got, asked, Purged)
	}
	if e, ok := find(s, sum("/a"), []byte("/a")); !ok || versionOf(e) != 1 {
		t.Errorf("Find: got a hit %v, want version 1 untouched", ok)
	}
	if st := s.Stats(); st.Writes != 1 || st.Replaced != 0 {
		t.Errorf("got %d writes and %d replaced, want 1 and 0", st.Writes, st.Replaced)
	}
}

// A response fetched before a purge must not be stored after it.
func TestPurgeBeatsTheFetchesItOvertakes(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	var generation atomic.Uint64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		wg.Go(func() {
			for i := w; ; i++ {
				fetched := generation.Load()
				e := plain("/a", fetched, 8)
				if i%2 == 0 {
					e = variant("/a", fmt.Sprint(i%6), 8, "Accept")
					e.Content = InMemory(body(fetched, 8))
				}
				s.Put(e, func() bool { return generation.Load() != fetched })
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 5000 {
		now := generation.Add(1)
		s.Purge(sum("/a"), []byte("/a"))
		for v := range 6 {
			if e, ok := get(s, "/a", fmt.Sprint(v)); ok && versionOf(e) < now {
				t.Fatalf("after purge %d: got the response of generation %d", now, versionOf(e))
			}
		}
	}
	close(done)
	wg.Wait()
}

func TestPurgeRemovesAllVariantsFromWindowAndMain(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, variant("/a", "main1", 8, "Accept"))
	mustPut(t, s, variant("/a", "main2", 8, "Accept"))
	mustPut(t, s, plain("/stays", 0, 8))
	pushOut(t, s)
	mustPut(t, s, variant("/a", "window", 8, "Accept"))
	before := s.Stats().Purged
	if n := s.Purge(sum("/a"), []byte("/a")); n != 3 {
		t.Errorf("Purge: got %d objects, want 3", n)
	}
	if n := s.Stats().Purged - before; n != 3 {
		t.Errorf("counted: got %d purged, want 3", n)
	}
	for _, v := range []string{"main1", "main2", "window"} {
		if holds(s, "/a\x00"+v) {
			t.Errorf("variant %s: got a hit after the purge", v)
		}
	}
	if s.Vary(sum("/a"), []byte("/a")).Len() > 0 {
		t.Error("Vary: got a record after the purge")
	}
	if !holds(s, "/stays") {
		t.Error("another URL: got a miss")
	}
	if n := s.Purge(sum("/a"), []byte("/a")); n != 0 {
		t.Errorf("second Purge: got %d objects, want 0", n)
	}
	mustPut(t, s, plain("/a", 0, 8))
	if n := s.Purge(sum("/a"), []byte("/a")); n != 1 {
		t.Errorf("Purge of a response without Vary: got %d objects, want 1", n)
	}
}

// Random writes and purges keep the books exact: with keys whose high words,
// ristretto's only ones, are all different, and with ones that collide.
func TestBooksAgreeAfterRandomWrites(t *testing.T) {
	f := func(name string, key func(string) Key) {
		t.Run(name, func(t *testing.T) {
			s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 3})
			rng := rand.New(rand.NewPCG(7, 7))
			names := map[string]Key{}
			for step := range testkit.Times(20_000, 6000) {
				e := randomEntry(rng, key)
				if rng.IntN(8) == 0 {
					s.Purge(e.URL, e.urlName())
					if _, ok := find(s, e.Key, e.Name); ok {
						t.Fatalf("step %d: %q: got a hit after its purge", step, e.Name)
					}
					continue
				}
				mustPut(t, s, e)
				names[string(e.Name)] = e.Key
				for range 5 {
					asked := randomEntry(rng, key)
					find(s, asked.Key, asked.Name)
				}
				if got, ok := find(s, e.Key, e.Name); !ok || !got.Content().same(e.Content) {
					t.Fatalf("step %d: %q: got a hit %v, want what was just put", step, e.Name, ok)
				}
				if step%2000 == 0 {
					checkBooks(t, s, names)
				}
			}
			checkBooks(t, s, names)
			st := s.Stats()
			for what, n := range map[string]int64{
				"capacity": st.Capacity,
				"variants": st.Variants, "replaced": st.Replaced, "purged": st.Purged,
			} {
				if n == 0 {
					t.Errorf("%s: got none in this run, want some: %+v", what, st)
				}
			}
		})
	}
	f("distinct", sum)
	f("colliding", func(name string) Key {
		k := sum(name)
		k.Hi %= 97
		return k
	})
}

// randomEntry draws one of 400 URLs, low numbers more often, with or without Vary,
// small or large.
func randomEntry(rng *rand.Rand, key func(string) Key) *Entry {
	url := fmt.Sprintf("/url/%d", min(rng.IntN(400), rng.IntN(400)))
	size := rng.IntN(16 << 10)
	if rng.IntN(50) == 0 {
		size = rng.IntN(64 << 10)
	}
	e := plain(url, 0, size)
	switch rng.IntN(6) {
	case 0, 1, 2:
		e = variant(url, fmt.Sprint(rng.IntN(5)), size, "Accept-Encoding")
	case 3:
		e = variant(url, fmt.Sprint(rng.IntN(5)), size, "Accept", "Cookie")
	}
	e.Key, e.URL = key(string(e.Name)), key(url)
	return e
}

func TestBytesNeverExceedTheBound(t *testing.T) {
	const writers = 4
	f := func(name string, stageBytes int64) {
		t.Run(name, func(t *testing.T) {
			s := newStoreOf(t, Options{
				MaxBytes: 1<<20 + stageBytes, MaxObjectBytes: 256 << 10, MaxVariants: 4, StageBytes: stageBytes,
			})
			writeAndSample(t, s, writers)
		})
	}
	f("no stage", 0)
	f("stage", 512<<10)
}

// writeAndSample checks the bounds of s while it is written to, and its books then.
func writeAndSample(t *testing.T, s *Store, writers int) {
	t.Helper()
	var wg, sampler sync.WaitGroup
	done := make(chan struct{})
	sampler.Go(func() {
		for !t.Failed() {
			checkBounds(t, s)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	all := make([]map[string]Key, writers)
	for w := range writers {
		all[w] = map[string]Key{}
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 3))
			for range 3000 {
				e := randomEntry(rng, sum)
				if rng.IntN(20) == 0 {
					e.Content = InMemory(make([]byte, 256<<10))
				}
				all[w][string(e.Name)] = e.Key
				switch rng.IntN(20) {
				case 0, 1:
					s.Purge(e.URL, e.urlName())
				case 2, 3, 4, 5, 6, 7:
					s.PutStage(e, nil)
				case 8, 9, 10, 11:
					s.Promote(e.Key, e.Name, 0)
				default:
					s.Put(e, nil)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	sampler.Wait()
	names := map[string]Key{}
	for _, m := range all {
		maps.Copy(names, m)
	}
	checkBooks(t, s, names)
}

// fillPopular fills the main part with entries that are asked for several times,
// and returns their keys by name.
func fillPopular(t *testing.T, s *Store) map[string]Key {
	t.Helper()
	names := map[string]Key{}
	for i := range 300 {
		e := plain(fmt.Sprintf("/popular/%d", i), 0, 4000)
		mustPut(t, s, e)
		names[string(e.Name)] = e.Key
	}
	for range 8 {
		askAll(s, names)
	}
	return names
}

// askAll looks everything up, at a pace at which ristretto drops no sample.
func askAll(s *Store, names map[string]Key) {
	for name, k := range names {
		find(s, k, []byte(name))
		synctest.Wait()
	}
}

func TestOutcomeWords(t *testing.T) {
	f := func(o Outcome, want string) {
		t.Helper()
		if got := o.String(); got != want {
			t.Errorf("Outcome %d: got %q, want %q", o, got, want)
		}
	}
	f(Stored, "stored")
	f(TooLarge, "too-large")
	f(Purged, "purged")
	f(Superseded, "superseded")
	f(VaryLimit, "vary-limit")
	f(0, "unknown")
}

func TestDiscardTakesTheOneEntryThatWasFound(t *testing.T) {
	f := func(name string, put func(s *Store)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := newStagedStore(t, 256<<10)
			put(s)
			e, tier := findIn(s, sum("/a"), []byte("/a"))
			if e == nil {
				t.Fatal("got nothing, want what was put")
			}
			if !s.Discard(e) {
				t.Error("Discard: got false, want true")
			}
			if holds(s, "/a") {
				t.Error("found after Discard")
			}
			if s.Discard(e) {
				t.Error("second Discard: got true, want false")
			}
			st := s.Stats().TierStats
			if tier == Stage {
				st = s.Stats().Stage
			}
			if st.Purged != 1 || st.Objects != 0 || st.Bytes != 0 {
				t.Errorf("got %+v, want one purged and nothing held", st)
			}
		})
	}
	put := func(s *Store, e *Entry) {
		if got := s.Put(e, nil); got != Stored {
			t.Errorf("Put: got %v, want stored", got)
		}
	}
	f("window", func(s *Store) { put(s, plain("/a", 1, 100)) })
	f("stage", func(s *Store) {
		if got := s.PutStage(plain("/a", 1, 100), nil); got != Stored {
			t.Errorf("PutStage: got %v, want stored", got)
		}
	})
}

func TestDiscardLeavesWhatHasComeSince(t *testing.T) {
	s := newStagedStore(t, 256<<10)
	mustPut(t, s, plain("/a", 1, 100))
	old, _ := find(s, sum("/a"), []byte("/a"))
	mustPut(t, s, plain("/a", 2, 100))
	if s.Discard(old) {
		t.Error("Discard of what was replaced: got true, want false")
	}
	if e, ok := find(s, sum("/a"), []byte("/a")); !ok || versionOf(e) != 2 {
		t.Error("the newer response is gone")
	}
}

func TestDiscardFindsWhatHasMovedToMain(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, plain("/a", 1, 100))
	for i := range 4 { // more than a window of them, less than main has room for
		mustPut(t, s, plain(fmt.Sprint("/b", i), 1, 40<<10))
		_, _ = find(s, sum("/a"), []byte("/a"))
	}
	if s.window.peek(sum("/a")) != nil {
		t.Fatal("still in the window: no test of main")
	}
	e, ok := find(s, sum("/a"), []byte("/a"))
	if !ok {
		t.Fatal("not kept by main: no test of main")
	}
	if !s.Discard(e) || holds(s, "/a") {
		t.Error("still found after Discard")
	}
}
