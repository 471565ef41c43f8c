package cache

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"edgeproxy/internal/http/field"
)

// There must be no second, smaller bound on objects anywhere.
func TestLargestObjectIsStoredAlsoInAFullCache(t *testing.T) {
	f := func(maxBytes, maxObjectBytes int64) {
		t.Helper()
		s := newStore(t, maxBytes, maxObjectBytes)
		head := field.List{{Name: "X-Long", Value: strings.Repeat("x", int(min(headAllowance, maxBytes/smallShare)/2))}}
		for i := range 12 { // more than fit: 4 at most
			e := plain(fmt.Sprintf("/%d", i), 0, int(maxObjectBytes))
			e.Header = head
			if !s.Takes(maxObjectBytes, e, true) || !s.Takes(maxObjectBytes, nil, true) {
				t.Errorf("Fits(%d) of %d: got false, want true", maxObjectBytes, maxBytes)
			}
			mustPut(t, s, e)
			if !holds(s, string(e.Name)) {
				t.Errorf("object of %d bytes in %d: got a miss right after Put", maxObjectBytes, maxBytes)
			}
			checkBounds(t, s)
		}
	}
	f(64<<10, 16<<10)
	f(1<<20, 256<<10)
	f(1<<20, 1000)
	f(32<<20, 8<<20)
}

func TestTooLargeIsRefusedAndChangesNothing(t *testing.T) {
	s := newStore(t, 1<<20, 1000)
	mustPut(t, s, plain("/a", 1, 100))
	before := s.Stats()
	f := func(what string, e *Entry) {
		t.Helper()
		if s.Takes(e.Content.Size(), e, true) {
			t.Errorf("%s: Fits: got true, want false", what)
		}
		if got := s.Put(e, func() bool { return false }); got != TooLarge {
			t.Errorf("%s: Put: got %v, want %v", what, got, TooLarge)
		}
		if after := s.Stats(); after != before {
			t.Errorf("%s: got %+v, want it unchanged %+v", what, after, before)
		}
		if e, ok := find(s, sum("/a"), []byte("/a")); !ok || versionOf(e) != 1 {
			t.Errorf("%s: what was stored: got %v, want version 1", what, ok)
		}
	}
	f("body", plain("/a", 2, 1001))
	head := plain("/a", 2, 8)
	head.Header = field.List{{Name: "X", Value: strings.Repeat("x", 100<<10)}}
	f("header", head)
	f("URL for the index", variant("/a"+strings.Repeat("x", 40<<10), "gzip", 8, "Accept-Encoding"))
	if s.Takes(1001, nil, true) {
		t.Error("Fits(1001): got true, want false")
	}
}

// One client's page must never go to another because two keys hash alike.
func TestEqualHashesAreAMiss(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	k := Key{Hi: 1, Lo: 2}
	mine := &Entry{Key: k, Name: []byte("/mine"), URL: k, Content: InMemory(body(1, 8))}
	f := func(where string) {
		t.Helper()
		if _, ok := find(s, k, []byte("/other")); ok {
			t.Errorf("in %s: Find of another name: got a hit", where)
		}
		if _, ok := find(s, Key{Hi: 1, Lo: 3}, []byte("/mine")); ok {
			t.Errorf("in %s: Find with another low word: got a hit", where)
		}
		if n := s.Purge(k, []byte("/other")); n != 0 {
			t.Errorf("in %s: Purge of another name: got %d objects, want 0", where, n)
		}
		if _, ok := find(s, k, []byte("/mine")); !ok {
			t.Errorf("in %s: Find: got a miss", where)
		}
	}
	mustPut(t, s, mine)
	f("window")
	pushOut(t, s)
	f("main")

	v := variant("/v", "gzip", 8, "Accept-Encoding")
	mustPut(t, s, v)
	if s.Vary(v.URL, []byte("/other")).Len() > 0 {
		t.Error("Vary of another name: got a record")
	}
	if n := s.Purge(v.URL, []byte("/other")); n != 0 {
		t.Errorf("Purge of another name: got %d objects, want 0", n)
	}
}

// pushOut fills the window anew, so that what it held is offered to main.
func pushOut(tb testing.TB, s *Store) {
	tb.Helper()
	size := int(min(s.limits.maxObjectBytes, s.limits.windowBytes/8))
	for i := range 2 * s.limits.windowBytes / int64(size) {
		name := fmt.Sprintf("/push-out/%d", i)
		mustPut(tb, s, plain(name, 0, size))
		defer s.Purge(sum(name), []byte(name))
	}
}

// The bubble fails the test if a goroutine is left.
func TestCloseEndsAllGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{MaxBytes: 1 << 20, MaxObjectBytes: 1000, MaxVariants: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			mustPut(t, s, plain(fmt.Sprint(i), 0, 500))
		}
		before := s.Stats()
		s.Close()
		if after := s.Stats(); after != before {
			t.Errorf("Close: got %+v, want no eviction counted beyond %+v", after, before)
		}
	})
}
