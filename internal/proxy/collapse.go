package proxy

import (
	"errors"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// collapse answers a miss: in slices where the route has them, else by the flight for
// its key where it may share one, else by a fetch of its own. A client that refuses what
// is stored has such a fetch always.
func (p *Proxy) collapse(x *exchange) {
	switch {
	case x.codingRefused:
		p.fetchAlone(x, false)
	case x.sliceable():
		if p.smallRangeOfSlices(x) {
			p.fetchAlone(x, false)
		} else if p.hitForMiss.Has(x.baseKey, x.start) || !p.slices(x) {
			p.collapseWhole(x)
		}
	case x.severalOfSliced():
		p.fetchAlone(x, false)
	default:
		p.collapseWhole(x)
	}
}

func (p *Proxy) collapseWhole(x *exchange) {
	marked := p.hitForMiss.Has(x.baseKey, x.start) // it was not shareable a moment ago
	switch {
	case marked && x.asks.ranged && x.verdict.Admit && x.mayStore():
		p.fetchPart(x) // most likely all of it is too much to store
	case !x.mayShare():
		p.fetchAlone(x, x.verdict.Admit && x.mayStore() && !p.smallRange(x))
	case marked:
		// Nobody queues for it. Conditions go along: most likely the origin alone can
		// answer them.
		p.fetchAlone(x, x.verdict.Admit && !x.asks.conditional)
	default:
		p.share(whole{x})
	}
}

// mayShare reports whether the request may share a flight: a GET without Range
// or Authorization.
func (x *incoming) mayShare() bool {
	a := &x.asks
	return a.get && !a.ranged && !a.authorization && !a.precondition
}

// mayStore reports whether a fetch for this request alone may be stored.
func (x *incoming) mayStore() bool { return x.asks.get && !x.asks.precondition }

// maxJoins bounds how often one request goes from flight to flight because what
// it was given is not its own.
const maxJoins = 4

// wanted is a whole response, or a slice of one, that a client wants from the origin and may share with others. share gets it. The client is answered by take, or by findStored, fetchAlone or fail.
type wanted interface {
	// join joins the flight for it, or begins one and leads it. If r is nil it has to be fetched alone.
	join() (r *reader, leads bool)
	// lead begins the fetch of the flight that r leads. anew says that others wait as well: then the client may be answered by
	// another flight, and leave, before the fetch has looked at its request. lead reports whether the client is answered and the
	// flight has ended.
	lead(r *reader, anew bool) (answered bool)
	// wait waits for the response's header: flight.Reader.Wait.
	wait(r *reader) (*outcome, flight.Outcome, error)
	// findStored answers from the store, if the response is there by now.
	findStored() (done bool)
	// keyMoved reports whether found, which was last asked, has found another key
	// than that of the flight that r leads, or what the client cannot share.
	keyMoved(r *reader) bool

	// answers reports whether h is what the client wants. leads says that the client led the fetch.
	answers(h *outcome, leads bool) bool
	// redirect turns from h, which is not what the client wants, to the flight that may bring it.
	redirect(h *outcome, leads bool) (done bool)
	// count makes the request a sighting of the key of h. It reports false if h has to be stored for it and there is no memory
	// for that.
	count(r *reader, h *outcome, leads bool) bool
	// asksAgain reports whether the client waits for one more fetch, which one of those who wait leads, after h was the answer
	// to another client's request and is not shared.
	asksAgain(h *outcome) bool
	// mayHave reports whether a follower may have the stored response that h is about.
	mayHave(h *outcome) bool

	// take makes h the answer, with the body that r reads.
	take(r *reader, h *outcome, leads bool)
	// fetchAlone fetches for this client; released says that nobody may share what it wants.
	fetchAlone(released bool)
	// fail answers with a failure, or with what may stand in for it.
	fail(err error)
}

// share gets w by a flight, which it leads or follows. If maxJoins flights do not bring it, w is fetched alone.
func (p *Proxy) share(w wanted) {
	for range maxJoins {
		if p.shareOnce(w) {
			return
		}
	}
	w.fetchAlone(false)
}

// shareOnce gets w by one flight. It returns false if another try is needed: the key has changed, or the response was stored
// meanwhile.
func (p *Proxy) shareOnce(w wanted) (done bool) {
	r, leads := w.join()
	switch {
	case r == nil:
		w.fetchAlone(false)
		return true
	case leads && w.findStored(): // stored between our look-up and our lead
		releaseUnused(r)
		return true
	case leads && w.keyMoved(r): // another may fetch it by that key
		releaseUnused(r)
		return false
	case leads && w.lead(r, false):
		return true
	}
	h, outcome, err := awaitHeader(w, r)
	return actOnOutcome(w, r, h, outcome, err)
}

// actOnOutcome acts on what the wait of w in the flight of r has brought.
func actOnOutcome(w wanted, r *reader, h *outcome, outcome flight.Outcome, err error) (done bool) {
	leads := r.Leads()
	if outcome == flight.Shared {
		if done, used := use(w, r, h, leads); used {
			return done
		}
		outcome = flight.Released // it was confirmed for another client
	}
	_ = r.Close()
	if !leads && (isOfLeader(err) || outcome == flight.Released && w.asksAgain(h)) {
		return false
	}
	return actOnEnd(w, outcome, err)
}

// use answers w by h, the header that the flight of r has given. It reports not used if w may not have h.
func use(w wanted, r *reader, h *outcome, leads bool) (done, used bool) {
	switch {
	case !w.answers(h, leads):
		_ = r.Close()
		return w.redirect(h, leads), true
	case !w.count(r, h, leads):
		_ = r.Close()
		return false, true
	case leads || h.held == nil || w.mayHave(h):
		w.take(r, h, leads)
		return true, true
	}
	return false, false
}

// releaseUnused ends the flight that r leads, which has fetched nothing. Its followers look again.
func releaseUnused(r *reader) {
	r.Flight().Fill()
	_ = r.Close()
}

// awaitHeader waits for a header for w. It leads another flight when it is the turn of w.
func awaitHeader(w wanted, r *reader) (*outcome, flight.Outcome, error) {
	for {
		h, outcome, err := w.wait(r)
		if outcome != flight.LeadAnew {
			return h, outcome, err
		}
		_ = w.lead(r, true) // others wait, so nobody is answered yet
	}
}

// actOnEnd acts on the outcome of a flight that gave w nothing to read.
func actOnEnd(w wanted, outcome flight.Outcome, err error) (done bool) {
	switch outcome {
	case flight.Filled:
		return w.findStored()
	case flight.Released:
		w.fetchAlone(true)
	case flight.Left:
		w.fail(errClientGone)
	case flight.TimedOut:
		w.fail(errNoHeader)
	case flight.Failed:
		w.fail(err)
	case flight.Shared, flight.LeadAnew: // handled by shareOnce and awaitHeader
	}
	return true
}

// errNoHeader ends the wait of a follower.
var errNoHeader = &origin.Error{Kind: origin.Timeout, Op: "wait for the fetch of another request", Err: errors.New("no response header arrived in time")}

// asksAfter reports whether a client waits for one more fetch after h, the answer to another client's request. known says that
// the resource had an answer that was no error: then h may tell of the request that got it. The client waits only once, which asked
// notes: an origin that is down must not be asked by one client at a time.
func asksAfter(h *outcome, known bool, asked *bool) bool {
	if *asked || !known || h == nil || h.held != nil || h.status < leastError {
		return false
	}
	*asked = true
	return true
}

// isOfLeader reports whether a fetch has failed because the leader's client is over its share of the origin. That does
// not concern followers: one of them leads the next fetch.
func isOfLeader(err error) bool { return errors.Is(err, origin.ErrShare) }

// What follows sends a request on whose flight has brought a response that is not for it: to the
// flight of its variant, or of its own target.

// followOwn takes a seat in a flight for the exact target of x, if there is one: it began
// before the rule of the path was known, or the rule does not hold for its request.
func (p *Proxy) followOwn(x *exchange, admit bool) *reader {
	if x.rule == nil || x.redirected || x.baseKey == x.exact.baseKey {
		return nil
	}
	r, _ := p.flights.Follow(x.exact.key, flight.Admission{Following: admit, Client: x.who})
	return r
}

// onlyTarget returns the target that was asked for, if a rule made it and the response has not the rule: it
// answers that target then, and says nothing of others. Else it returns "".
func onlyTarget(j *job, resp *origin.Response) string {
	if j.queryRule == nil || j.queryRule.SaidBy(resp.Header) {
		return ""
	}
	return string(j.resource.Target)
}

// isForOtherTarget reports whether h, which x has had fetched, is the response to another
// target than that of x.
func (h *outcome) isForOtherTarget(x *exchange) bool {
	return h.only != "" && h.only != string(x.keyedTarget)
}

// dropQueryRule has x go on as if its path had no rule.
func (x *exchange) dropQueryRule() {
	x.keying, x.rule, x.exactOnly, x.redirected, x.stale = x.exact, nil, true, true, nil
}

// baseNameOf returns the key before Vary by which x would have the response that h is
// about; nil if none.
func (p *Proxy) baseNameOf(x *exchange, h *outcome) []byte {
	switch _, part := wire.SearchKey(h.selected().name); {
	case part == nil:
		return x.exact.name[:x.exact.baseLen]
	case h.rule != nil:
		return p.keyingFor(x, h.rule).name
	case x.rule != nil: // stored before, and found by the rule of the flight
		return x.byRule.name[:x.byRule.baseLen]
	}
	return nil
}

// redirectFlight sends x from a flight whose response is not its own on to another: that of
// its variant, or of its own target.
func (p *Proxy) redirectFlight(x *exchange, h *outcome) {
	e := h.selected()
	x.redirected, x.renews = true, false
	_, byRule := wire.SearchKey(e.name)
	mine := string(p.baseNameOf(x, h)) == string(e.baseName)
	switch {
	case !mine, byRule == nil:
		x.keying, x.rule, x.exactOnly = x.exact, nil, true
	case h.rule != nil && h.rule != x.rule: // learned meanwhile
		x.rule, x.byRule = h.rule, p.keyingFor(x, h.rule)
		x.keying = x.byRule
	}
	if mine {
		x.selectVariant(p, e.vary)
		p.recount(x, nil)
	}
}
