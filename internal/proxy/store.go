package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/reason"
)

// store puts a whole, storable, admitted body into the cache and says why not
// otherwise; None is stored. One that admission holds back goes to the stage if
// there is one, and stays held back. err is how the body ended.
func (p *Proxy) store(f *fill, h *head, err error) reason.Reason {
	if !h.storable() {
		return h.why
	}
	if err != nil {
		return reason.Incomplete
	}
	body, admitted := f.Whole(p.Store.FitsStage(f.Size(), h.entry))
	if body == nil {
		return p.unkept(f, h)
	}
	e := *h.entry
	e.Body = body
	if !admitted {
		p.Store.PutStage(&e, f.Purged) // one that was purged meanwhile is not there, and held back all the same
		return reason.FirstSighting    // whatever the policy calls it; see account
	}
	switch p.Store.Put(&e, f.Purged) {
	case cache.Stored:
		return reason.None
	case cache.Purged:
		return reason.Purged
	default:
		return reason.TooLarge
	}
}

// unkept says why the flight does not give its body to the store.
func (p *Proxy) unkept(f *fill, h *head) reason.Reason {
	switch {
	case !f.Admitted():
		return reason.FirstSighting // whatever the policy calls it; see account
	case f.Purged():
		return reason.Purged
	case f.Size() > p.MaxObjectBytes || h.length > p.MaxObjectBytes:
		return reason.TooLarge
	}
	return reason.InflightLimit
}
