package proxy

import (
	"sync/atomic"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
)

// fillCounts counts fills: fetches of a GET that asked the cache and got a response. When none
// is under way,
//
//	storable = stored + held back + refused
//
// A fill is counted as storable when its header is judged, and on the other side when its body
// has ended, so each side checks the other. The fills that are stored are the writes of the
// memory tier less its promotions.
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

// fillable reports whether a store without limits of size would take the response. Its fill then
// counts as storable.
func (h *outcome) fillable() bool { return h.storable() || h.why == reason.TooLarge }

// account counts the end of f once, however often it is called. It counts nothing for a HEAD,
// nor where a stored response is the answer. why is None for what was stored; size is how many
// bytes of the body arrived.
func (f *fill) account(why reason.Reason, size int64) {
	if f.accounted || f.head == nil || f.head.held != nil || f.facts.Method == "HEAD" {
		return
	}
	f.accounted = true
	h, r, c := f.head, f.route, &f.route.metrics.fills
	switch {
	case !h.fillable():
		c.notStorable.Add(1)
	case why == reason.None:
		f.dropOutdated()
		f.reportToAdmission(size, false)
		c.stored.Add(1)
	case why.HeldBack():
		if why = r.Rule.Policy.HoldsBack(); f.verdict.Reason == reason.Outweighed {
			why = reason.Outweighed
		}
		c.heldBack.Add(1)
		c.heldBackBytes.Add(size)
		if !r.Rule.Policy.Remembers() {
			c.unjudged.Add(1)
			c.unjudgedBytes.Add(size)
		}
		f.reportToAdmission(size, true)
	default:
		c.refused.Add(1)
	}
	if why != reason.None {
		c.notStored[why].Add(1)
		f.countCookies(why)
	}
}

// reportToAdmission tells the gate that f was stored or held back, and counts regret.
func (f *fill) reportToAdmission(size int64, heldBack bool) {
	if f.p.Gate.Filled(f.route.Rule, f.url.Hi, f.url.Lo, size, heldBack) {
		c := &f.route.metrics.fills
		c.regret.Add(1)
		c.regretBytes.Add(size)
	}
}

// ended counts the fill of x, which fetched for itself and stored nothing.
func (x *exchange) ended(whole bool) {
	if x.fill == nil {
		return // it was no fill: the cache was not asked
	}
	why := x.fill.head.why
	switch {
	case why != reason.None:
	case !whole:
		why = reason.Incomplete
	case x.bytes > x.p.MaxObjectBytes:
		why = reason.TooLarge
	case x.codingRefused:
		why = reason.CodingRefused
	case x.verdict.Admit:
		why = x.whyNotToStore()
	default:
		why = x.verdict.Reason
	}
	x.fill.account(why, x.bytes)
}

// dropOutdated removes the stale response in whose place the origin has sent the one that is stored now (RFC 9111 section 4.3.3). It is
// still there if the two vary by different names, and would go on answering other requests stale. A fresh one stays: a client chooses
// when to have one validated, and so could have each of them removed.
func (f *fill) dropOutdated() {
	e := f.fallback
	if e == nil || e.Key() == f.head.entry.Key || rfc9111.Fresh(e.Lifetime(), e.Age(f.head.at)) {
		return
	}
	f.p.Store.Discard(e)
}
