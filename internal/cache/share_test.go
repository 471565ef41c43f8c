package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/conn/pinned"
)

// tagged returns a variant with this ETag and a body of its own memory that depends on
// version alone.
func tagged(url, value, etag string, version uint64, bodyBytes int) *Entry {
	e := variant(url, value, bodyBytes, "Cookie")
	e.Content = InMemory(body(version, bodyBytes))
	if etag != "" {
		e.Header.Add("Etag", etag)
	}
	return e
}

// held is what the memory tier holds, without asking for it.
func held(s *Store) (items []*Object) {
	s.window.each(func(it *Object) { items = append(items, it) })
	s.main.each(0, func(it *Object) { items = append(items, it) })
	return items
}

// checkShares holds the books to the memory that is really held: each head, and each body
// once. No write may be in progress.
func checkShares(tb testing.TB, s *Store) {
	tb.Helper()
	settleRistretto(s)
	var want int64
	bodies := map[*byte]bool{}
	shared := 0
	for _, it := range held(s) {
		want += it.cost()
		if s.shares[it] != nil {
			shared++
		}
		if len(bytesOf(it)) == 0 {
			continue
		}
		if first := &bytesOf(it)[0]; bodies[first] {
			want -= it.Content().Size()
		} else {
			bodies[first] = true
		}
	}
	if got := s.books.bytes.Load(); got != want {
		tb.Errorf("got %d bytes in the books, want the %d of heads and of each body once", got, want)
	}
	if shared != len(s.shares) || len(s.orphans) != 0 {
		tb.Errorf("got %d entries with shares, of which %d are held, and %d bodies without a host", len(s.shares), shared, len(s.orphans))
	}
	checkBounds(tb, s)
}

// TestVariantsOfOneBodyAreStoredOnce: 20 copies of a page that varied by a cookie which it
// did not depend on took the place of 20 pages.
func TestVariantsOfOneBodyAreStoredOnce(t *testing.T) {
	const size, n = 60 << 10, 20
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, tagged("/a", "0", `"1"`, 1, size))
	one := s.Stats()
	names := map[string]Key{}
	for i := range n {
		e := tagged("/a", fmt.Sprint(i), `"1"`, 1, size)
		names[string(e.Name)] = e.Key
		if i > 0 {
			if got := s.Put(e, nil); got != Joined {
				t.Errorf("variant %d: got %v, want joined", i, got)
			}
		}
	}
	st := s.Stats()
	if st.Writes != n || st.Objects != n || st.WriteBytes != size {
		t.Errorf("got %d writes, %d objects, %d bytes written, want %d, %[4]d and %d", st.Writes, st.Objects, st.WriteBytes, n, size)
	}
	if got := st.Bytes - one.Bytes; got >= size {
		t.Errorf("got %d bytes for %d further variants, want less than one body", got, n-1)
	}
	checkShares(t, s)
	checkBooks(t, s, names)
}

// TestWhatDiffersIsStoredByItself: only the bytes say that two bodies are one.
func TestWhatDiffersIsStoredByItself(t *testing.T) {
	const size = 1 << 10
	f := func(name string, e *Entry) {
		t.Helper()
		s := newStore(t, 1<<20, 64<<10)
		mustPut(t, s, tagged("/a", "1", `"1"`, 1, size))
		if got := s.Put(e, nil); got != Stored {
			t.Errorf("%s: got %v, want stored", name, got)
		}
		checkShares(t, s)
	}
	f("another tag", tagged("/a", "2", `"2"`, 1, size))
	f("another body with this tag", tagged("/a", "2", `"1"`, 2, size))
	f("another length", tagged("/a", "2", `"1"`, 1, size+1))
	f("no validator", tagged("/a", "2", "", 1, size))
	f("another URL", tagged("/b", "2", `"1"`, 1, size))
	f("the same variant", tagged("/a", "1", `"1"`, 1, size))
}

// TestABodyOutlivesItsHost: whichever of the variants leaves, and whichever way.
func TestABodyOutlivesItsHost(t *testing.T) {
	const size = 60 << 10
	f := func(name string, leave func(s *Store, host *Object)) {
		t.Run(name, func(t *testing.T) {
			total := pinned.NewTotal(1 << 30)
			s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 3, Pinned: total})
			for i := range 3 {
				s.Put(tagged("/a", fmt.Sprint(i), `"1"`, 1, size), nil)
			}
			host, _ := find(s, sum("/a\x000"), []byte("/a\x000"))
			for _, other := range []string{"/a\x001", "/a\x001", "/a\x002", "/a\x002"} {
				holds(s, other)
			}
			host.Pin().Hold()
			leave(s, host)
			checkShares(t, s)
			if got := total.Bytes(); got != 0 {
				t.Errorf("got %d bytes pinned that others hold, want 0", got)
			}
			for _, other := range []string{"/a\x001", "/a\x002"} {
				if e, ok := find(s, sum(other), []byte(other)); !ok || &bytesOf(e)[0] != &bytesOf(host)[0] {
					t.Errorf("%q: got held %v, want it with the body that it had", other, ok)
				}
			}
			s.Purge(sum("/a"), []byte("/a"))
			if got := total.Bytes(); got != size {
				t.Errorf("got %d bytes pinned when all have left, want %d", got, size)
			}
			host.Pin().Release()
			if got := total.Bytes(); got != 0 || s.Objects() != 0 {
				t.Errorf("at the end: got %d bytes pinned and %d objects, want none", got, s.Objects())
			}
			checkShares(t, s)
		})
	}
	f("discarded", func(s *Store, host *Object) { s.Discard(host) })
	f("replaced", func(s *Store, _ *Object) { mustPut(t, s, tagged("/a", "0", `"2"`, 2, size)) })
	f("too many variants", func(s *Store, _ *Object) { mustPut(t, s, tagged("/a", "3", `"2"`, 2, size)) })
	f("renewed and discarded", func(s *Store, host *Object) {
		e := changed(host, func(e *Entry) { e.Serial = 7 })
		if !s.Renew(e, 0, nil) {
			t.Error("not renewed")
		}
		now, _ := find(s, e.Key, e.Name)
		s.Discard(now)
	})
	f("revised away", func(s *Store, host *Object) { s.Revise(host.key, func(*Entry) *Entry { return nil }) })
}

// TestAPromotedVariantJoins: the stage keeps what it has by itself.
func TestAPromotedVariantJoins(t *testing.T) {
	const size = 10 << 10
	s := newStagedStore(t, 256<<10)
	mustPut(t, s, tagged("/a", "1", `"1"`, 1, size))
	mustStage(t, s, tagged("/a", "2", `"1"`, 1, size))
	mustPromote(t, s, "/a\x002")
	if st := s.Stats(); st.Writes != 2 || st.WriteBytes != size || st.Stage.Objects != 0 {
		t.Errorf("got %+v, want 2 writes of one body", st)
	}
	checkShares(t, s)
}

// TestTheHeirPushesOutNothingThatHasJustLanded: what replaces a host is found at once, also
// where the guest that takes the host's place leaves no room for both in the window.
func TestTheHeirPushesOutNothingThatHasJustLanded(t *testing.T) {
	s := newStore(t, 1<<20, 256<<10)
	popular := func(url, value string) {
		for range 300 {
			get(s, url, value)
		}
	}
	crowd := func(what string, n int) {
		for i := range n {
			mustPut(t, s, plain(fmt.Sprintf("/%s/%d", what, i), 1, 60<<10))
			popular(fmt.Sprintf("/%s/%d", what, i), "")
		}
	}
	crowd("first", 14)
	for round := range uint64(10) {
		tag := fmt.Sprintf(`"%d"`, round)
		s.Put(tagged("/a", "1", tag, round, 80<<10), nil)
		s.Put(tagged("/a", "2", tag, round, 80<<10), nil)
		popular("/a", "1")
		popular("/a", "2")
		crowd("then", 8)
		large := tagged("/a", "1", `"large"`, round, 250<<10)
		s.Put(large, nil)
		if e, ok := find(s, large.Key, large.Name); !ok || e.Content().Size() != large.Content.Size() {
			t.Errorf("round %d: is not there right after Put", round)
		}
		if got := s.window.ring.next.key; got != large.Key {
			t.Errorf("round %d: something has landed behind it", round)
		}
		checkShares(t, s)
	}
}

// TestSharesHoldTheBooks does everything at random, in a cache that is too small, and checks
// the books after each step, while readers hold every answer to its name.
func TestSharesHoldTheBooks(t *testing.T) {
	total := pinned.NewTotal(1 << 40)
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 6, StageBytes: 128 << 10, Pinned: total})
	const urls, values, bodies = 24, 5, 3
	sizes := [bodies]int{100, 20 << 10, 60 << 10}
	random := func(r *rand.Rand) *Entry {
		v := r.IntN(bodies)
		url := fmt.Sprintf("/%d", r.IntN(urls))
		if r.IntN(40) == 0 {
			return plain(url, uint64(v), sizes[v])
		}
		return tagged(url, fmt.Sprint(r.IntN(values)), fmt.Sprintf(`"%d"`, v), uint64(v), sizes[v])
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for g := range 2 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for {
				select {
				case <-done:
					return
				default:
				}
				want := random(r)
				e, ok := find(s, want.Key, want.Name)
				if !ok {
					continue
				}
				e.Pin().Hold()
				if v := versionOf(e); !bytes.Equal(bytesOf(e), body(v, sizes[v])) || e.Varies() && first(e).Value != fmt.Sprintf(`"%d"`, v) {
					t.Errorf("%q: got the body of version %d with tag %s", e.Name(), v, first(e).Value)
				}
				e.Pin().Release()
				checkBounds(t, s)
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		switch e := random(r); r.IntN(10) {
		case 0:
			s.Purge(e.URL, []byte(strings.Split(string(e.Name), "\x00")[0]))
		case 1:
			if old, ok := find(s, e.Key, e.Name); ok {
				s.Discard(old)
			}
		case 2:
			if old, tier := findIn(s, e.Key, e.Name); tier == Memory {
				s.Renew(changed(old, func(e *Entry) { e.Serial++ }), old.serial, nil)
			}
		case 3:
			s.Revise(e.Key, func(old *Entry) *Entry {
				next := *old
				next.Serial = old.Serial | 1
				if next.Serial == old.Serial {
					return old
				}
				return &next
			})
			s.mu.Lock()
			if it := s.heldLocked(e.Key); it != nil && it.serial&1 == 0 {
				t.Errorf("%q: is held as it was before it was revised", it.Name())
			}
			s.mu.Unlock()
		case 4, 5:
			s.PutStage(e, nil)
			s.Promote(e.Key, e.Name, 0)
		default:
			s.Put(e, nil)
		}
		checkShares(t, s)
	}
	st := s.Stats()
	if gone := st.Capacity + st.Rejected + st.Variants + st.Replaced + st.Purged; st.Writes != st.Objects+gone {
		t.Errorf("got %d writes, want %d held + %d gone", st.Writes, st.Objects, gone)
	}
	close(done)
	readers.Wait()
	for u := range urls {
		url := fmt.Sprintf("/%d", u)
		s.Purge(sum(url), []byte(url))
	}
	checkShares(t, s)
	if s.Objects() != 0 || total.Bytes() != 0 {
		t.Errorf("at the end: got %d objects and %d bytes pinned, want none", s.Objects(), total.Bytes())
	}
}
