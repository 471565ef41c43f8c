package varyfields

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	sets = 2048
	ways = 4

	// MaxURLs is how many URLs are remembered at most. With the longest lists of names
	// they take 6 MiB, with usual ones less than 1.
	MaxURLs = sets * ways

	// maxNames and maxNameBytes bound the fields of one URL.
	maxNames     = 16
	maxNameBytes = 256
)

// Table remembers the fields of a bounded number of URLs, by the two halves of a
// 128-bit hash that nobody outside can choose: equal hashes are one URL. It is safe for
// concurrent use; the zero Table is not: see New.
type Table struct {
	urls  []atomic.Pointer[url] // ways of each set, one after the other; written under mu
	count atomic.Int64          // of URLs

	mu   sync.Mutex // held by who writes; readers take no lock
	hand uint8      // where the search for room goes on; guarded by mu
}

// url is one that is remembered. All but used stays as it is.
type url struct {
	hi, lo uint64
	names  []string
	used   atomic.Bool // asked for since the search for room came by
}

// New returns an empty Table.
func New() *Table { return &Table{urls: make([]atomic.Pointer[url], MaxURLs)} }

// Names returns the fields by which the URL with this hash varied last, nil if it did
// not or is not remembered. Nobody may write to them. It allocates nothing.
func (t *Table) Names(hi, lo uint64) []string {
	if t.count.Load() == 0 {
		return nil
	}
	_, u := t.look(hi, lo)
	if u == nil {
		return nil
	}
	if !u.used.Load() { // read first: the cache line of a URL in demand stays shared
		u.used.Store(true)
	}
	return u.names
}

// Peek is Names that does not count as use.
func (t *Table) Peek(hi, lo uint64) []string {
	if _, u := t.look(hi, lo); u != nil {
		return u.names
	}
	return nil
}

// Learn notes by which fields the latest response of a URL varies; none are what it
// varied by before forgotten. It copies names that it keeps.
func (t *Table) Learn(hi, lo uint64, names []string) {
	if len(names) == 0 && t.count.Load() == 0 {
		return
	}
	if _, u := t.look(hi, lo); u == nil && len(names) == 0 || u != nil && slices.Equal(u.names, names) {
		return // spares the many the lock
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	place, u := t.look(hi, lo)
	if !small(names) {
		if u != nil {
			place.Store(nil)
			t.count.Add(-1)
		}
		return
	}
	if u == nil {
		place = t.roomLocked(lo)
	}
	next := &url{hi: hi, lo: lo, names: clone(names)}
	next.used.Store(u != nil)
	if place.Swap(next) == nil {
		t.count.Add(1)
	}
}

// small reports whether there are names, and few and short enough to be kept.
func small(names []string) bool {
	bytes := 0
	for _, name := range names {
		bytes += len(name)
	}
	return len(names) > 0 && len(names) <= maxNames && bytes <= maxNameBytes
}

// clone copies names and their bytes: those may be a part of a header.
func clone(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Clone(name)
	}
	return out
}

// set returns the places of the URLs whose hash has this low half.
func (t *Table) set(lo uint64) []atomic.Pointer[url] {
	first := lo % sets * ways
	return t.urls[first : first+ways]
}

// look returns what is remembered of a URL and where it is, nil if nothing.
func (t *Table) look(hi, lo uint64) (*atomic.Pointer[url], *url) {
	set := t.set(lo)
	for i := range set {
		if u := set[i].Load(); u != nil && u.hi == hi && u.lo == lo {
			return &set[i], u
		}
	}
	return nil, nil
}

// roomLocked returns a place for a URL that has none: a free one, or that of a URL that
// nobody has asked for since the search came by last.
func (t *Table) roomLocked(lo uint64) *atomic.Pointer[url] {
	set := t.set(lo)
	for i := range set {
		if set[i].Load() == nil {
			return &set[i]
		}
	}
	for {
		place := &set[t.hand%ways]
		t.hand++
		if !place.Load().used.Swap(false) {
			return place
		}
	}
}
