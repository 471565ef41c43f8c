package proxy

import (
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
)

// This file finds what is stored for a request under a key before Vary. The responses of a URL may differ in what they vary by. Each
// answers the requests that agree with its own in the fields of its own Vary (RFC 9111 section 4.1), so there is a look-up for each list
// of names that the URL has, and several may find something. One that is fresh goes before one that is not. Of those that are fresh, one
// with Vary goes before the one without, which may lack it by mistake. Then the latest goes first. An error without Vary, even a fresh one,
// does not go before a stale answer that can be validated: a client may have brought it about by a field by which the answer varies.

// match is what is stored for a request under one key before Vary.
type match struct {
	entry    *cache.Object // nil: nothing is
	heldBack bool          // by admission
	name     []byte        // the key of entry
	key      cache.Key
	vary     []string // the list that has selected entry; nil: it does not vary
}

// findMatch finds what is stored for x under the key before Vary called name, in memory, or where x may wait, also on the disk. It returns
// as well by which lists of names the responses vary that are stored under this key. If parts of what is stored may only be found on the
// disk, x.onDisk says so. It allocates nothing, but in what is read from the disk.
func (p *Proxy) findMatch(x *exchange, base cache.Key, name []byte) (m match, lists cache.Lists) {
	if lists = p.Store.Vary(base, name); lists.Len() == 0 && x.mayReadDisk {
		lists = p.Store.LoadVary(base, name)
	}
	m.name, m.key = name, base
	if lists.Len() == 0 {
		m.entry, m.heldBack, lists = p.findInTiers(x, base, name)
		if m.entry == nil && !x.mayReadDisk && !x.onDisk {
			x.onDisk = p.Store.VariesOnDisk(name)
		}
		if lists.Len() == 0 {
			return m, lists
		}
	}
	for i := range lists.Len() {
		m = p.better(x, m, p.findVariant(x, name, lists.At(i)))
	}
	if m.entry == nil || !isFresh(m.entry, x.start) {
		plain := match{name: name, key: base}
		plain.entry, plain.heldBack, _ = p.findInTiers(x, base, name)
		m = p.better(x, m, plain)
	}
	return m, lists
}

// findVariant finds the variant that x selects by names, under the key before Vary called base.
func (p *Proxy) findVariant(x *exchange, base []byte, names []string) match {
	n := len(x.scratch)
	x.scratch = append(x.scratch, base...)
	x.scratch = x.appendVariant(x.scratch, names)
	m := match{name: x.scratch[n:], vary: names}
	m.key = p.Hasher.Sum(m.name)
	m.entry, m.heldBack, _ = p.findInTiers(x, m.key, m.name)
	return m
}

// better returns which of a and b answers x, and releases the other.
func (p *Proxy) better(x *exchange, a, b match) match {
	switch {
	case b.entry == nil:
		return a
	case a.entry == nil:
		return b
	case prefers(a.entry, b.entry, x.start):
		a, b = b, a
	}
	p.Store.Release(a.entry)
	return b
}

// prefers reports whether of two responses that a request selects, a and not b is to be used at this time.
func prefers(a, b *cache.Object, at time.Time) bool {
	aFresh, bFresh := isFresh(a, at), isFresh(b, at)
	switch {
	case aFresh != bFresh:
		if fresh, stale := ordered(a, b, aFresh); isDoubtfulBeside(fresh, stale, at) {
			return !aFresh
		}
		return aFresh
	case aFresh && a.Varies() != b.Varies():
		return a.Varies()
	}
	if made, other := originTime(a), originTime(b); !made.Equal(other) {
		return made.After(other)
	}
	return !a.ResponseTime().Before(b.ResponseTime()) // Date has seconds only
}

// ordered returns a and b, or b and a if inOrder is false.
func ordered(a, b *cache.Object, inOrder bool) (first, second *cache.Object) {
	if inOrder {
		return a, b
	}
	return b, a
}

// isDoubtfulBeside reports whether fresh is an error that may tell of the request that got it, and stale an answer that the origin can
// be asked about instead.
func isDoubtfulBeside(fresh, stale *cache.Object, at time.Time) bool {
	return fresh.Status() >= leastError && !fresh.Varies() && stale.Status() < leastError && stale.Varies() && stale.Policy().Useful(stale.Age(at))
}

func isFresh(e *cache.Object, at time.Time) bool { return rfc9111.Fresh(e.Lifetime(), e.Age(at)) }

// lookupKey finds what is stored under the key of x, fresh or stale, nil if nothing;
// x.fwd says how near it came.
func (p *Proxy) lookupKey(x *exchange) *cache.Object {
	x.fwd, x.stale = fwdURIMiss, nil
	x.name, x.key, x.vary, x.guessed = x.name[:x.baseLen], x.base, nil, false
	if !x.mayReadDisk && p.Store.Vary(x.base, x.name).Len() == 0 { // as a rule
		return p.lookupPlain(x)
	}
	return p.lookupVariants(x)
}

// lookupPlain is lookupKey in memory for a URL whose responses do not vary.
func (p *Proxy) lookupPlain(x *exchange) *cache.Object {
	e, heldBack := p.findUnpurged(x.key, x.name, x.resource(), x.start)
	if x.heldBack = heldBack; e == nil {
		x.onDisk = x.onDisk || p.Store.OnDisk(x.name) || p.Store.VariesOnDisk(x.name)
		p.keyByLastVary(x, cache.Lists{})
	}
	return e
}

// lookupVariants is lookupKey for any URL, also on the disk where x may wait.
func (p *Proxy) lookupVariants(x *exchange) *cache.Object {
	m, lists := p.findMatch(x, x.base, x.name)
	if lists.Len() > 0 {
		x.fwd = fwdVaryMiss
	}
	x.heldBack = m.heldBack
	if m.entry == nil {
		p.keyByLastVary(x, lists)
	} else {
		x.name, x.key, x.vary = m.name, m.key, m.vary
	}
	if lists.Len() > 0 && x.onDisk && !x.mayReadDisk { // another may be there, and be later
		x.heldBack = false
		return nil
	}
	return m.entry
}

// selectVariant makes x's key that of the variant which names select.
func (x *exchange) selectVariant(p *Proxy, names []string) {
	start := len(x.scratch)
	x.scratch = append(x.scratch, x.name[:x.baseLen]...)
	x.scratch = x.appendVariant(x.scratch, names)
	x.name = x.scratch[start:]
	x.key = p.Hasher.Sum(x.name)
	x.vary, x.guessed = names, false
}
