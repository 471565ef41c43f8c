package proxy_test

import (
	"encoding/json"
	"sync"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/test/edgetest"
)

// keepAllTier is the worst of tiers that outlive the process: it keeps, encoded, every entry that it was
// ever shown, removes none, and knows of no purge but by the identity it was last written
// under.
type keepAllTier struct {
	mu       sync.Mutex
	entries  [][]byte
	seen     map[uint64]bool // serials
	identity purge.Identity
}

// encodedEntry is an entry as a tier writes it: its body apart.
type encodedEntry struct {
	Entry cache.Entry
	Body  []byte
}

// see has it keep what e has in memory now.
func (s *keepAllTier) see(tb testing.TB, e *edgetest.Edge) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[uint64]bool{}
	}
	s.identity = e.Proxy.Purges.Identity()
	e.Store.Each(func(o *cache.Object) {
		entry := o.Entry()
		if s.seen[entry.Serial] {
			return
		}
		s.seen[entry.Serial] = true
		body := make([]byte, entry.Content.Size())
		if n, err := entry.Content.ReadAt(body, 0); n != len(body) {
			tb.Errorf("%q: read %d of %d bytes: %v", entry.Name, n, len(body), err)
		}
		d := encodedEntry{Entry: *entry, Body: body}
		d.Entry.Content, d.Entry.Pin = cache.Content{}, nil
		b, err := json.Marshal(d)
		if err != nil {
			tb.Error(err)
		}
		s.entries = append(s.entries, b)
	})
}

// restore puts all that it keeps into e, if e knows of every purge since. It reports whether it
// does.
func (s *keepAllTier) restore(tb testing.TB, e *edgetest.Edge) bool {
	tb.Helper()
	if len(s.entries) == 0 {
		tb.Fatal("the tier has kept nothing: this proves nothing")
	}
	if !e.Proxy.Purges.Identity().Knows(s.identity) {
		return false
	}
	for _, b := range s.entries {
		var d encodedEntry
		if err := json.Unmarshal(b, &d); err != nil {
			tb.Fatal(err)
		}
		d.Entry.Content = cache.InMemory(d.Body)
		if got := e.Store.Put(&d.Entry, nil); got != cache.Stored {
			tb.Fatalf("put back %q: got %v", d.Entry.Name, got)
		}
	}
	return true
}
