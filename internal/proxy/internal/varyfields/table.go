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

	// MaxURLs is the largest number of URLs. With the longest lists of names they take
	// 6 MiB, with typical lists less than 1 MiB.
	MaxURLs = sets * ways

	// maxNames and maxNameBytes bound the fields of one URL.
	maxNames     = 16
	maxNameBytes = 256
)

// Table remembers the fields of a bounded number of URLs, by the two halves of a keyed
// 128-bit hash: URLs with the same hash are one URL. It is safe for concurrent use. The
// zero Table is not usable: see New.
type Table struct {
	urls  []atomic.Pointer[url] // ways of each set, one after the other; written under mu
	count atomic.Int64          // how many URLs there are

	mu   sync.Mutex // held by writers; readers take no lock
	hand uint8      // where the next search for room begins; guarded by mu
}

// url is the entry of one URL. Only used changes.
type url struct {
	hi, lo uint64
	names  []string
	used   atomic.Bool // used since the last search for room passed it
}

// New returns an empty Table.
func New() *Table { return &Table{urls: make([]atomic.Pointer[url], MaxURLs)} }

// Names returns the fields by which the last response of the URL with this hash varied, nil
// if it did not vary or is not remembered. The caller must not write to them. Names does
// not allocate.
func (t *Table) Names(hi, lo uint64) []string {
	if t.count.Load() == 0 {
		return nil
	}
	_, u := t.find(hi, lo)
	if u == nil {
		return nil
	}
	if !u.used.Load() { // read first: the cache line of a popular URL stays shared
		u.used.Store(true)
	}
	return u.names
}

// Peek is Names without noting the use.
func (t *Table) Peek(hi, lo uint64) []string {
	if _, u := t.find(hi, lo); u != nil {
		return u.names
	}
	return nil
}

// Learn notes by which fields the latest response of a URL varies. Without names the URL is
// forgotten. Learn copies the names that it keeps.
func (t *Table) Learn(hi, lo uint64, names []string) {
	if len(names) == 0 && t.count.Load() == 0 {
		return
	}
	if _, u := t.find(hi, lo); u == nil && len(names) == 0 || u != nil && slices.Equal(u.names, names) {
		return // most calls change nothing, and need no lock
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	place, u := t.find(hi, lo)
	if !storable(names) {
		if u != nil {
			place.Store(nil)
			t.count.Add(-1)
		}
		return
	}
	if u == nil {
		place = t.roomLocked(lo)
	}
	next := &url{hi: hi, lo: lo, names: copyNames(names)}
	next.used.Store(u != nil)
	if place.Swap(next) == nil {
		t.count.Add(1)
	}
}

// storable reports whether there are names, and few and short enough to be kept.
func storable(names []string) bool {
	bytes := 0
	for _, name := range names {
		bytes += len(name)
	}
	return len(names) > 0 && len(names) <= maxNames && bytes <= maxNameBytes
}

// copyNames copies names with their bytes, which may be a part of a header.
func copyNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Clone(name)
	}
	return out
}

// set returns the places for URLs whose hash has this low half.
func (t *Table) set(lo uint64) []atomic.Pointer[url] {
	first := lo % sets * ways
	return t.urls[first : first+ways]
}

// find returns the place and the entry of a URL, nil if it has none.
func (t *Table) find(hi, lo uint64) (*atomic.Pointer[url], *url) {
	set := t.set(lo)
	for i := range set {
		if u := set[i].Load(); u != nil && u.hi == hi && u.lo == lo {
			return &set[i], u
		}
	}
	return nil, nil
}

// roomLocked returns a place for a URL that has none: a free one, or that of a URL that was
// not used since the last search passed it.
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
