package proxy

import (
	"math/bits"
	"sync/atomic"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/wire"
)

// selectedURLs knows of which URLs something may be stored that the store does not find by the URL: slices, and what headers, cookies or
// a route select. It is a Bloom filter of their hashes. So an invalidation of a URL of which there is nothing needs no mark.
//
// A URL is added before what is stored of it can be found, and is never removed. The next sweep of the store (purgeSweeper) makes another filter, of
// what is there. Until then, after a start with something on the disk, all URLs may have something.
type selectedURLs struct {
	known  atomic.Bool // one of the filters has each URL of which something is stored
	filter atomic.Pointer[urlFilter]
	before atomic.Pointer[urlFilter] // the one before: who adds may have seen no other
	next   atomic.Pointer[urlFilter] // the filter that a sweep makes; nil: none runs
}

const (
	urlFilterBits  = 1 << 22 // 512 KiB: with 400,000 URLs one in a hundred others looks like one of them
	urlFilterWords = urlFilterBits / 64
	urlProbes      = 4
)

type urlFilter [urlFilterWords]atomic.Uint64

// probes calls f with the word and the bit of each probe for key, while f returns true.
func (t *urlFilter) probes(key cache.Key, f func(word *atomic.Uint64, bit uint64) bool) {
	for i := range uint64(urlProbes) {
		at := (key.Lo + i*bits.RotateLeft64(key.Hi, 32)) % urlFilterBits
		if !f(&t[at/64], 1<<(at%64)) {
			return
		}
	}
}

func (t *urlFilter) add(key cache.Key) {
	t.probes(key, func(word *atomic.Uint64, bit uint64) bool { word.Or(bit); return true })
}

// has reports whether key may have been added; a nil t has none.
func (t *urlFilter) has(key cache.Key) bool {
	all := t != nil
	if all {
		t.probes(key, func(word *atomic.Uint64, bit uint64) bool { all = word.Load()&bit != 0; return all })
	}
	return all
}

// add adds the hash of a URL.
func (s *selectedURLs) add(url cache.Key) {
	s.filter.Load().add(url)
	if next := s.next.Load(); next != nil {
		next.add(url)
	}
}

// mayHave reports whether something may be stored of a URL.
func (s *selectedURLs) mayHave(url cache.Key) bool {
	return !s.known.Load() || s.filter.Load().has(url) || s.before.Load().has(url)
}

// begin begins another filter. The sweep adds what it finds, and those that store what they add.
func (s *selectedURLs) begin() { s.next.Store(&urlFilter{}) }

// swept adds a URL of which the sweep has found something.
func (s *selectedURLs) swept(url cache.Key) { s.next.Load().add(url) }

// end puts the new filter in place, if the sweep has seen all that is stored. Who began to store before the sweep, and had added to the filter of
// before alone, is found there.
func (s *selectedURLs) end(all bool) {
	next := s.next.Load()
	if all {
		s.before.Store(s.filter.Load())
		s.filter.Store(next)
		s.known.Store(true)
	}
	s.next.Store(nil)
}

// note notes what f is about to store: its host, if that may be no site's, and its URL, if the store does not find it by that.
func (f *fill) note() {
	f.p.unnamedSites.note(f.resource.Host)
	if f.p.Store.HasDisk() && int(f.head.entry.URLLen) > f.exact.urlLen {
		f.p.selected.add(f.exact.urlKey)
	}
}

// sweptSelected is note for what a sweep finds stored under name, of which the first urlLen bytes are before Vary.
func (p *Proxy) sweptSelected(name []byte, urlLen int) {
	scheme, host, target, ok := wire.KeyURL(name)
	if !ok {
		return // no key of ours
	}
	if key := wire.AppendKey(nil, string(scheme), host, target); urlLen > len(key) {
		p.selected.swept(p.Hasher.Sum(key))
	}
}

// mayBeSelected reports whether something may be stored of u that the store does not find by u.
func (p *Proxy) mayBeSelected(u purge.URL) bool {
	return p.queryRules.Peek(p.pathOf(u)) != nil || p.selected.mayHave(p.Hasher.Sum(wire.AppendKey(nil, u.Scheme, u.Host, u.Target)))
}
