package proxy

import (
	"math/rand/v2"
	"slices"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
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
	heldBack bool          // admission has held it back
	name     []byte        // the key of entry
	key      cache.Key
	vary     []string // the list that has selected entry; nil: it does not vary
}

// findMatch finds what is stored for x under the key before Vary called name, in memory, or where x may wait, also on the disk. It returns
// as well by which lists of names the responses vary that are stored under this key. If parts of what is stored may only be found on the
// disk, x.onDisk says so. It allocates nothing, but in what is read from the disk.
func (p *Proxy) findMatch(x *exchange, baseKey cache.Key, name []byte) (m match, lists cache.Lists) {
	if lists = p.Store.Vary(baseKey, name); lists.Len() == 0 && x.mayReadDisk {
		lists = p.Store.LoadVary(baseKey, name)
	}
	m.name, m.key = name, baseKey
	if lists.Len() == 0 {
		m.entry, m.heldBack, lists = p.findInTiers(x, baseKey, name)
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
		plain := match{name: name, key: baseKey}
		plain.entry, plain.heldBack, _ = p.findInTiers(x, baseKey, name)
		m = p.better(x, m, plain)
	}
	return m, lists
}

// findVariant finds the variant that x selects by names, under the key before Vary called baseName.
func (p *Proxy) findVariant(x *exchange, baseName []byte, names []string) match {
	n := len(x.scratch)
	x.scratch = append(x.scratch, baseName...)
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
	x.name, x.key, x.vary, x.guessed = x.name[:x.baseLen], x.baseKey, nil, false
	if !x.mayReadDisk && p.Store.Vary(x.baseKey, x.name).Len() == 0 { // this is so as a rule
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
	m, lists := p.findMatch(x, x.baseKey, x.name)
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
func (x *routed) selectVariant(p *Proxy, names []string) {
	start := len(x.scratch)
	x.scratch = append(x.scratch, x.name[:x.baseLen]...)
	x.scratch = x.appendVariant(x.scratch, names)
	x.name = x.scratch[start:]
	x.key = p.Hasher.Sum(x.name)
	x.vary, x.guessed = names, false
}

// What follows keeps a stored or shared response from clients that could not read it: its content coding is one that they refuse, and
// its Vary does not say that Accept-Encoding selects it. Such a client gets a fetch of its own, which is not stored. In place of the
// stored response it would be the one that all others get, and any client could so take the coding from them.

// refusesCoding reports whether x's client refuses one of the codings of a Content-Encoding. A route that writes
// Accept-Encoding itself decides for its clients.
func (x *routed) refusesCoding(contentEncoding string) bool {
	if x.route.Request.Value(acceptEncoding) != nil {
		return false
	}
	return !rfc9111.AcceptsCodings(x.clientLines(acceptEncoding), contentEncoding)
}

// refusesStored is refusesCoding for what is stored. Of most responses it has to ask nothing.
func (x *routed) refusesStored(e *cache.Object) bool {
	if !e.Coded() {
		return false
	}
	contentEncoding, _ := e.Header().Get("Content-Encoding")
	return x.refusesCoding(contentEncoding)
}

// refusesShared is refusesCoding for what a flight has brought for another client.
func (x *routed) refusesShared(h *outcome) bool {
	switch {
	case h.held != nil:
		return x.refusesStored(h.held)
	case h.coding == "":
		return false
	}
	return x.refusesCoding(h.coding)
}

// codingNotInVary returns the Content-Encoding of a response that Accept-Encoding does not select; else "".
func codingNotInVary(header field.List, vary []string) string {
	if slices.Contains(vary, acceptEncoding) {
		return ""
	}
	contentEncoding, _ := header.Get("Content-Encoding")
	return contentEncoding
}

// namesDictionary reports whether the origin is told of one dictionary that the client has (RFC 9842), so that the codings that
// need it may be asked for. Vary of a response that uses it names the field, and VaryNames makes sure of that.
func (x *routed) namesDictionary() bool {
	const name = "Available-Dictionary"
	if x.route.Request.Value(name) != nil {
		return false
	}
	var value []byte
	for i := range x.fields {
		if sameName(x.fields[i].Name, name) {
			if value != nil {
				return false
			}
			value = x.fields[i].Value
		}
	}
	return rfc9111.Dictionary(value) && !(x.asks.connectionNames && x.namedByConnection(name)) && !x.notForwarded(name)
}

// What follows looks up what may be on the disk. Begin looks in memory only, since it must not wait. If memory does not have it and
// the disk may, Finish looks again. From then on each look-up of the exchange is in memory first, and then on the disk.

// findInTiers returns what is stored under a key: in memory, or where x may wait, on the disk. Instead of a response the disk may
// have the lists of names by which the URL varies, if an earlier version wrote them.
func (p *Proxy) findInTiers(x *exchange, key cache.Key, name []byte) (e *cache.Object, heldBack bool, vary cache.Lists) {
	e, heldBack = p.findUnpurged(key, name, x.resource(), x.start)
	switch {
	case e != nil:
	case x.mayReadDisk:
		e, vary = p.loadUnpurged(key, name, x.resource(), x.start)
	case !x.onDisk:
		x.onDisk = p.Store.OnDisk(name)
	}
	return e, heldBack, vary
}

// decideOnDisk decides again about x, now with a look at the disk. The sighting of x was counted before.
func (p *Proxy) decideOnDisk(x *exchange) disposition {
	if p.lookupCounted(x) {
		if x.refresh {
			p.refreshStale(x)
		}
		return hit
	}
	if p.assemble(x) {
		p.promoteParts(x, x.assembly())
		if x.refresh {
			p.refreshStale(x)
		}
		return hit
	}
	p.recount(x, nil)
	if x.fwd == fwdStale && !x.heldBack {
		x.renews, x.verdict = true, admission.Verdict{Admit: true}
	}
	return p.decideMiss(x)
}

// refreshStale begins the validation of what x is answered from, which is stale.
func (p *Proxy) refreshStale(x *exchange) {
	if a := x.assembly(); a != nil {
		p.refreshParts(x, a)
		return
	}
	p.refresh(x)
}

// stamp tells s which purges are known. What s writes to the disk carries that, and what was written under other purges is not found.
// If purges do not outlive the process, nothing on the disk does.
func stamp(s *cache.Store, id purge.Identity) {
	if id.Run == 0 {
		own := cache.Stamp{rand.Uint64(), 0, rand.Uint64()}
		s.Stamped(own, func(other cache.Stamp) bool { return other == own })
		return
	}
	s.Stamped(cache.Stamp{id.History, id.Run, id.KeySeed}, func(other cache.Stamp) bool {
		return id.Knows(purge.Identity{History: other[0], Run: other[1], KeySeed: other[2]})
	})
	s.OnlyListed(id.First()) // an earlier process may have invalidated the others without a mark
}
