package proxy

import (
	"math/rand/v2"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
)

// This file looks up what may be on the disk. Begin looks in memory only, since it must not wait. If memory does not have it and
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
		p.refreshStale(x)
		return hit
	}
	if p.assemble(x) {
		p.promoteParts(x, x.assembly())
		p.refreshStale(x)
		return hit
	}
	p.recount(x, nil)
	if x.fwd == fwdStale && !x.heldBack {
		x.renews, x.verdict = true, admission.Verdict{Admit: true}
	}
	return p.decideMiss(x)
}

// refreshStale begins the validation of what x is answered from, if that is stale.
func (p *Proxy) refreshStale(x *exchange) {
	switch a := x.assembly(); {
	case x.refresh && a != nil:
		p.refreshParts(x, a)
	case x.refresh:
		p.refresh(x)
	}
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
