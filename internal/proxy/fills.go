package proxy

import (
	"sync/atomic"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/reason"
)

// fillCounts books fills: fetches of a GET that asked the cache and got a
// response. When none is under way,
//
//	storable = stored + held back + refused
//
// storable is counted when the header is judged and the others when the body has
// ended, so each side checks the other. Stored fills are the writes of the memory
// tier less its promotions.
type fillCounts struct {
	storable, notStorable   atomic.Int64
	stored, refused         atomic.Int64
	heldBack, heldBackBytes atomic.Int64
	regret, regretBytes     atomic.Int64
	// of those held back, and not promoted since, by policies that have no regret to tell
	unjudged, unjudgedBytes atomic.Int64
	promoted, promotedBytes atomic.Int64   // from the stage: written without a fill
	notStored               []atomic.Int64 // by reason: held back, refused and not storable
}

// fillable reports whether a store without limits would take the response, so
// that its fill counts as storable.
func (h *head) fillable() bool { return h.storable() || h.why == reason.TooLarge }

// account books the end of one fill: a GET's response that was judged. why is
// None for what was stored, size what arrived of the body.
func (p *Proxy) account(r *route, h *head, url cache.Key, why reason.Reason, size int64) {
	c := &r.metrics.fills
	switch {
	case !h.fillable():
		c.notStorable.Add(1)
	case why == reason.None:
		c.stored.Add(1)
	case why.HeldBack():
		why = r.Rule.Policy.HoldsBack()
		c.heldBack.Add(1)
		c.heldBackBytes.Add(size)
		if !r.Rule.Policy.Remembers() {
			c.unjudged.Add(1)
			c.unjudgedBytes.Add(size)
		}
	default:
		c.refused.Add(1)
	}
	if why != reason.None {
		c.notStored[why].Add(1)
	}
	if !h.fillable() || why != reason.None && !why.HeldBack() {
		return
	}
	if p.Gate.Filled(r.Rule, url.Hi, url.Lo, size, why != reason.None) {
		c.regret.Add(1)
		c.regretBytes.Add(size)
	}
}

// ended books the fill of a request that fetched for itself, unstored.
func (p *Proxy) ended(x *exchange, whole bool) {
	if x.result == resultPass || !x.asks.get {
		return
	}
	why := x.head.why
	switch {
	case why != reason.None:
	case !whole:
		why = reason.Incomplete
	case x.bytes > p.MaxObjectBytes:
		why = reason.TooLarge
	case x.verdict.Admit:
		why = x.unkept()
	default:
		why = x.verdict.Reason
	}
	p.account(x.route, x.head, x.demand, why, x.bytes)
}
