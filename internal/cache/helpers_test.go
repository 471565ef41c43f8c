package cache

import (
	"encoding/binary"
	"testing"
)

// newStore returns a Store that is closed when the test ends.
func newStore(tb testing.TB, maxBytes, maxObjectBytes int64) *Store {
	tb.Helper()
	return newStoreOf(tb, Options{MaxBytes: maxBytes, MaxObjectBytes: maxObjectBytes, MaxVariants: 32})
}

func newStoreOf(tb testing.TB, o Options) *Store {
	tb.Helper()
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// sum hashes with a fixed seed, so that runs repeat.
func sum(name string) Key { return Hasher{seed: 42}.Sum([]byte(name)) }

// plain returns an entry without Vary whose body has the given size and starts
// with version.
func plain(url string, version uint64, bodyBytes int) *Entry {
	k := sum(url)
	return &Entry{Key: k, Name: []byte(url), URL: k, URLLen: len(url), Status: 200, Body: body(version, bodyBytes)}
}

// variant returns an entry of url for the given values of its Vary fields.
func variant(url, values string, bodyBytes int, fields ...string) *Entry {
	name := url + "\x00" + values
	return &Entry{
		Key: sum(name), Name: []byte(name), URL: sum(url), URLLen: len(url), Vary: fields, Status: 200,
		Body: body(0, bodyBytes),
	}
}

func body(version uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 0, max(n, 8)), version)[:max(n, 8)]
}

func versionOf(e *Entry) uint64 { return binary.LittleEndian.Uint64(e.Body) }

func mustPut(tb testing.TB, s *Store, e *Entry) {
	tb.Helper()
	if got := s.Put(e, nil); got != Stored {
		tb.Fatalf("Put(%q): got %v, want stored", e.Name, got)
	}
}

func holds(s *Store, name string) bool {
	_, ok := s.Get(sum(name), []byte(name))
	return ok
}

// get looks url up as a request does: by the fields known to vary, if any.
func get(s *Store, url, values string) (*Entry, bool) {
	if _, varies := s.Vary(sum(url), []byte(url)); varies {
		url += "\x00" + values
	}
	return s.Get(sum(url), []byte(url))
}

// checkBooks compares the counters with what look-ups still find of names, which
// must be all ever put, and ristretto's sum with ours. No write may be in progress.
func checkBooks(tb testing.TB, s *Store, names map[string]Key) {
	tb.Helper()
	var objects, cost int64
	for name, k := range names {
		if e, ok := s.Get(k, []byte(name)); ok {
			objects++
			cost += e.Cost()
		}
	}
	st := s.Stats()
	if st.Objects != objects || st.Bytes-st.IndexBytes != cost {
		tb.Errorf("held: got %d objects of %d bytes, want the %d of %d bytes found",
			st.Objects, st.Bytes-st.IndexBytes, objects, cost)
	}
	if gone := st.Capacity + st.Rejected + st.Variants + st.Replaced + st.Purged; st.Writes != st.Objects+gone {
		tb.Errorf("identity: got %d writes, want %d held + %d gone; all: %+v", st.Writes, st.Objects, gone, st)
	}
	s.main.cache.Wait()
	used := s.main.cache.MaxCost() - s.main.cache.RemainingCost()
	if want := st.Bytes - st.IndexBytes - s.window.bytes.Load(); used != want {
		tb.Errorf("ristretto: got %d bytes in its books, want %d", used, want)
	}
	checkBounds(tb, s)
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
	check("window", s.window.bytes.Load(), s.limits.windowBytes)
	check("index", s.index.bytes.Load(), s.limits.indexBytes)
}

// namesOf returns the keys of entries by name, for checkBooks.
func namesOf(entries ...*Entry) map[string]Key {
	names := map[string]Key{}
	for _, e := range entries {
		names[string(e.Name)] = e.Key
	}
	return names
}
