package proxy

import (
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// errUnshared ends a flight whose response turned out to be for one client.
var errUnshared = errors.New("the response is not shared")

// admit gives the head to the readers of the flight. The flight decides which of them may have it, and whether the body is kept
// for the store. If clients that joined before the head arrived can still admit the response, admit waits until each has decided: a
// short body might end before that.
func (f *fill) admit() {
	if !f.shared {
		f.flight.Publish(f.head, f.head.response(false))
		return
	}
	says := f.head.responseTo(&f.job, f.flight.Key())
	f.flight.Publish(f.head, says)
	if says.Recounted {
		f.flight.AwaitDecisions()
	}
}

// compete holds a response back that admission would let in, if it is worth less than what would have to leave the memory for it. One
// that others wait for is asked for again right now: each of them lets it in. A slice does not compete, for it is no use alone.
func (f *fill) compete() {
	h := f.head
	if !f.shared || h.entry == nil || !f.sighted || f.renews || f.span != nil {
		return
	}
	if f.verdict.Reason != reason.Outweighed { // else it has lost, and was asked for once more
		if !f.verdict.Admit || !f.p.Store.Outweighed(h.entry, h.length, f.route.Rule.Needs()) {
			return
		}
		f.verdict.Admit, f.verdict.Reason = false, reason.Outweighed
	}
	s := f.sighting
	h.counts = &s
}

// response returns what a flight has to know of h. shared says that followers may have it.
func (h *outcome) response(shared bool) flight.Response {
	return flight.Response{Storable: h.storable(), Shareable: shared, Resumable: h.resumable(), Length: h.length}
}

// responseTo returns what the flight for a key has to know of h, which j has fetched.
func (h *outcome) responseTo(j *job, key cache.Key) flight.Response {
	r := h.response(h.shareable())
	if !j.sighted || !h.storable() {
		return r
	}
	r.Recounted = h.counts != nil || mayVary(h.entry.Vary) && h.entry.Key != key
	r.Admits = j.verdict.Admit
	return r
}

// leastError is the first status of an error.
const leastError = 400

// answersOne reports whether the response answers the Range or condition of one client.
func answersOne(h *outcome, j *job) bool {
	switch h.status {
	case statusNotModified, statusPreconditionFailed, statusRequestedRangeNotSatisfiable:
		return true
	}
	return h.why == reason.Partial && (j.span == nil || !j.span.slice)
}

// markHitForMiss notes a key whose response cannot be shared, so that the next requests for it
// do not queue. A storable response clears the mark. The answer to a request with credentials
// says nothing of the others, and a part says nothing of the whole. Nor does an error: one bad request would end the
// sharing for all.
func (p *Proxy) markHitForMiss(j *job, h *outcome, resp *origin.Response) {
	switch {
	case j.span != nil && !j.span.slice:
	case h.shareable():
		p.hitForMiss.Clear(j.baseKey)
	case answersOne(h, j): // and says nothing of what others get
	case h.status >= leastError:
	case !h.storable() && j.settings.UncacheableFor > 0 && !j.facts.Authorization && !j.facts.Cookie && j.facts.Method == "GET":
		p.hitForMiss.Set(j.baseKey, resp.ResponseTime.Add(j.settings.UncacheableFor))
	}
}

// removeSuperseded forgets the stored response that the origin no longer gives, where the new one is
// not stored in its place. The answer to a client with credentials says nothing of the others.
func (p *Proxy) removeSuperseded(j *job, h *outcome) {
	if j.asked == nil || h.storable() || j.facts.Authorization || j.facts.Cookie {
		return
	}
	if h.status >= 400 && h.status != statusNotFound && h.status != statusGone {
		return
	}
	if e := p.findIgnoringPurges(j.asked.Key(), j.asked.Name()); e != nil && e.Serial() == j.asked.Serial() {
		p.Store.Discard(e)
	}
}
