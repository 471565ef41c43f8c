package proxy

import (
	"math/rand/v2"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/purge"
)

// This file looks on the disk. Begin looks into memory alone, for it must not wait. What memory does not have and
// the disk may have is left to Finish. From then on each look-up of the exchange is in memory first, and then on the disk.

// findInTiers looks for what is stored for x under a key: in memory, and where x may wait, on the disk. There it may find by which
// fields responses vary instead.
func (p *Proxy) findInTiers(x *exchange, key cache.Key, name []byte) (e *cache.Object, heldBack bool, vary []string) {
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

// decideOnDisk is decide once more for x, which has been counted: now it looks on the disk.
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

// refreshStale has what x is answered from validated for the next answers, where it is stale.
func (p *Proxy) refreshStale(x *exchange) {
	switch a := x.assembly(); {
	case x.refresh && a != nil:
		p.refreshParts(x, a)
	case x.refresh:
		p.refresh(x)
	}
}

// stamp has s write on the disk beside what it stores which purges are known, and find nothing that others may have reached.
// Where no purge outlives the process, nothing on the disk does.
func stamp(s *cache.Store, id purge.Identity) {
	if id.Run == 0 {
		own := cache.Stamp{rand.Uint64(), 0, rand.Uint64()}
		s.Stamped(own, func(other cache.Stamp) bool { return other == own })
		return
	}
	s.Stamped(cache.Stamp{id.History, id.Run, id.KeySeed}, func(other cache.Stamp) bool {
		return id.Knows(purge.Identity{History: other[0], Run: other[1], KeySeed: other[2]})
	})
}
