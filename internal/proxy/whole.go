package proxy

import (
	"cmp"
	"errors"

	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/flight"
)

// whole is the whole response that an exchange wants.
type whole struct{ x *exchange }

// join implements wanted. A conditional request that would not be stored leads no flight: its
// origin may answer 304, which nobody else can use.
func (w whole) join() (r *reader, leads bool) {
	x, p := w.x, w.x.p
	defer func() { x.flightReader = r; x.waitsFor(r != nil && !leads) }()
	if x.codingRefused { // what others share is no answer
		return nil, false
	}
	a := flight.Admission{Leading: x.verdict.Admit, Following: x.route.Rule.Joined(x.verdict).Admit, Client: x.who}
	if r = p.followOwn(x, a.Following); r != nil {
		return r, false
	}
	// What is known of Vary may be from a flight that began by the key before Vary, and has a
	// variant of its own to bring.
	if x.guessed || x.vary != nil && !x.redirected {
		if r, _ = p.flights.Follow(x.baseKey, a); r != nil {
			return r, false
		}
	}
	if x.asks.conditional && !x.verdict.Admit {
		r, _ = p.flights.Follow(x.key, a)
		return r, false
	}
	return p.flights.Join(x.key, x.urlKey, a)
}

func (w whole) lead(r *reader, anew bool) (answered bool) {
	x := w.x
	x.waitsFor(false)
	f := x.p.newShared(x)
	if anew {
		f.outlive(x, dropNone)
		f.start(r, x.p.interimSender(x), x.presence)
		return false
	}
	f.fetchAsLeader(r, x)
	return x.ownResponse(r)
}

func (w whole) wait(r *reader) (*outcome, flight.Outcome, error) {
	x := w.x
	return r.Wait(x.settings.patience(x.route, x.presence), w.suits)
}

// findStored implements wanted. As a rule nothing was stored since the first look-up, and no rule for queries
// has come that another one would go by.
func (w whole) findStored() (done bool) {
	x, p := w.x, w.x.p
	if x.asOf == p.flights.Ended() && x.rule == nil && p.queryRules.Empty() {
		return false
	}
	return p.lookupCounted(x)
}

func (w whole) keyMoved(r *reader) bool {
	if w.x.codingRefused { // what was stored meanwhile is refused, too
		return true
	}
	if r.Flight().Key() == w.x.key {
		return false
	}
	w.x.p.recount(w.x, nil)
	return true
}

func (w whole) answers(h *outcome, leads bool) bool {
	if leads {
		return !h.isForOtherTarget(w.x)
	}
	return w.suits(h)
}

// suits reports whether x, which did not lead the fetch of h, may have h: it selects this variant, and does not refuse its coding.
func (w whole) suits(h *outcome) bool { return w.x.p.selectsVariant(w.x, h) && !w.x.refusesShared(h) }

func (w whole) redirect(h *outcome, leads bool) (done bool) {
	w.x.asOf = 0 // it was not looked up by the key that it gets
	if leads {
		w.x.dropQueryRule()
		return false
	}
	if w.x.p.selectsVariant(w.x, h) {
		w.x.codingRefused = true // and so it is fetched alone
		return false
	}
	w.x.p.redirectFlight(w.x, h)
	w.x.stale = nil // it was what the URL had before it varied like this
	return false
}

func (w whole) count(r *reader, h *outcome, leads bool) bool {
	return w.x.p.countByFlight(w.x, r, h, leads)
}

func (w whole) asksAgain(h *outcome) bool { return asksAfter(h, w.x.wellBefore, &w.x.askedAgain) }

func (w whole) mayHave(h *outcome) bool { return w.x.route.shares(h, w.x.request) }

func (w whole) take(r *reader, h *outcome, leads bool) {
	x := w.x
	x.collapsed = !leads
	if h.held != nil {
		_ = r.Close()
		x.answerFrom(h, leads)
		return
	}
	x.presence.Ends(r)
	x.from, x.onResult = fromFlight{r}, true
}

func (w whole) fetchAlone(released bool) { w.x.p.fetchAlone(w.x, released && w.x.verdict.Admit) }

// fail implements wanted. The leader may not have wanted what is stored; x may.
func (w whole) fail(err error) {
	x := w.x
	if errors.Is(err, errClientGone) {
		x.p.clientLeft(x)
		return
	}
	if held := x.p.staleOnSharedFailure(&job{route: x.route, directives: x.request, resource: x.resource()}, x.stale, err); held != nil {
		x.answerFrom(held, false)
		return
	}
	x.p.fail(x, err)
}

// patience is how long a follower waits for the header of another request's fetch on this
// route: no longer than an origin may take for it.
func (s *settings) patience(r *route, waiting *presence.Client) flight.Patience {
	return flight.Patience{Client: waiting, Lead: s.CollapseWait, Most: max(s.CollapseWait, cmp.Or(r.FirstByte, r.Origin.FirstByteTimeout()))}
}

// shares reports whether a follower, whose request has the directives d, may have the stored
// response that h is about. It may not have one that was validated for the leader alone, and
// a stale one only as far as its own directives allow.
func (r *route) shares(h *outcome, d rfc9111.RequestDirectives) bool {
	if h.as == resultRevalidated {
		return !h.cookie && usable(h.held.Policy(), h.held.InitialAge())
	}
	if !r.HonorRequest {
		return true
	}
	kind := rfc9111.OriginFailure
	if k, failed := rfc9111.FailureOf(h.status); failed {
		kind = k
	}
	policy := h.held.Policy()
	return policy.MayServeStale(h.held.Age(now()), kind, d, true)
}

// selectsVariant reports whether x selects the variant that h is, of what its query asks for.
func (p *Proxy) selectsVariant(x *exchange, h *outcome) bool {
	e, baseName := h.selected(), p.baseNameOf(x, h)
	if len(e.vary) == 0 {
		return string(baseName) == string(e.name)
	}
	n := len(x.scratch)
	x.scratch = append(x.scratch, baseName...)
	x.scratch = x.appendVariant(x.scratch, e.vary)
	same := string(x.scratch[n:]) == string(e.name)
	x.scratch = x.scratch[:n]
	return same
}
