package proxy

import (
	"errors"

	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/presence"
	"edgeproxy/internal/rfc9111"
)

// maxJoins bounds how often one request goes from flight to flight because the
// variant it was given is not its own.
const maxJoins = 4

// collapse answers a miss: in slices where the route has them, else by the flight for
// its key where it may share one, else by a fetch of its own.
func (p *Proxy) collapse(x *exchange) {
	switch {
	case x.sliceable():
		if p.marks.Has(x.base, x.start) || !p.slices(x) {
			p.collapseWhole(x)
		}
	case x.severalOfSliced():
		p.alone(x, false)
	default:
		p.collapseWhole(x)
	}
}

func (p *Proxy) collapseWhole(x *exchange) {
	marked := p.marks.Has(x.base, x.start) // it was not shareable a moment ago
	switch {
	case marked && x.asks.ranged && x.verdict.Admit && x.mayStore():
		p.fetchPart(x) // most likely all of it is too much to store
	case !x.mayShare():
		p.alone(x, x.verdict.Admit && x.mayStore())
	case marked:
		// Nobody queues for it. Conditions go along: most likely the origin alone can
		// answer them.
		p.alone(x, x.verdict.Admit && !x.asks.conditional)
	default:
		p.join(x)
	}
}

// join answers a miss by a flight that others may share.
func (p *Proxy) join(x *exchange) {
	for range maxJoins {
		if done := p.share(x); done {
			return
		}
	}
	p.alone(x, false)
}

// mayShare reports whether the request may share a flight: a GET without Range
// or Authorization.
func (x *exchange) mayShare() bool {
	a := &x.asks
	return a.get && !a.ranged && !a.authorization && !a.precondition
}

// mayStore reports whether a fetch for this request alone may be stored.
func (x *exchange) mayStore() bool { return x.asks.get && !x.asks.precondition }

// share leads or joins the flight for x's key, and reports whether x has an
// answer; if not, the key has changed or the store has been filled, and the
// caller tries again.
func (p *Proxy) share(x *exchange) (done bool) {
	r, leads := p.takeSeat(x)
	if r == nil {
		p.alone(x, false)
		return true
	}
	x.seat = r
	if leads {
		if p.find(x) { // stored between our look-up and our lead
			r.Flight().Fill()
			_ = r.Close()
			return true
		}
		p.newShared(x).start(r, p.teller(x), x.guest)
	}
	h, outcome, err := p.await(x, r)
	if outcome == flight.Left {
		p.gone(x)
		return true
	}
	leads = r.Leads()
	if outcome == flight.Shared && leads && h.answersOther(x) {
		_ = r.Close()
		x.byItself()
		return false
	}
	if outcome == flight.Shared && (leads || p.suits(x, h)) {
		return p.read(x, r, h, leads)
	}
	_ = r.Close()
	return !ofItsClient(leads, err) && p.land(x, h, outcome, err)
}

// await waits for a header for x, and leads anew where it is x's turn.
func (p *Proxy) await(x *exchange, r *reader) (*head, flight.Outcome, error) {
	suits := func(h *head) bool { return p.suits(x, h) }
	for {
		h, outcome, err := r.Wait(x.settings.patience(x.route, x.guest), suits)
		if outcome != flight.LeadAnew {
			return h, outcome, err
		}
		// It may be given another's header meanwhile and go, so the fetch has copies of all it needs.
		f := p.newShared(x)
		f.outlive(x, nothing)
		f.start(r, p.teller(x), x.guest)
	}
}

// ofItsClient reports whether a fetch has failed because of what the leader's client holds. That
// does not concern its followers: one of them leads the next fetch.
func ofItsClient(leads bool, err error) bool { return !leads && errors.Is(err, origin.ErrShare) }

// patience is how long a follower waits for the header of another request's fetch on this
// route: no longer than an origin may take for it.
func (s *settings) patience(r *route, guest *presence.Client) flight.Patience {
	return flight.Patience{Left: guest.Gone(), Lead: s.CollapseWait, Most: max(s.CollapseWait, r.Origin.FirstByteTimeout())}
}

// errNoHeader ends the wait of a follower.
var errNoHeader = &origin.Error{Kind: origin.Timeout, Op: "wait for the fetches of other requests", Err: errors.New("none of them has a header")}

// read makes what the flight brought the answer of x: its body, which r reads, or
// something stored that it has confirmed. It reports false where x has to ask anew.
func (p *Proxy) read(x *exchange, r *reader, h *head, leads bool) (done bool) {
	if !p.countWith(x, r, h, leads) {
		_ = r.Close()
		return false
	}
	if h.held == nil {
		x.guest.Ends(r)
		x.reader, x.head, x.collapsed, x.onResult = r, h, !leads, true
		return true
	}
	_ = r.Close()
	if !leads && !x.route.shares(h, x.request) {
		p.alone(x, x.verdict.Admit)
		return true
	}
	x.collapsed = !leads
	x.take(h, leads)
	return true
}

// takeSeat takes a seat in the flight for x's key. A conditional request that would
// not be stored leads none: its origin may answer 304, which nobody else can use.
func (p *Proxy) takeSeat(x *exchange) (r *reader, leads bool) {
	a := flight.Admission{Leading: x.verdict.Admit, Following: x.route.Rule.Joined(x.verdict).Admit, Client: x.who}
	if r = p.followOwn(x, a.Following); r != nil {
		return r, false
	}
	if x.guessed { // the flight that the guess is from began by the key before Vary
		if r, _ = p.flights.Follow(x.base, a); r != nil {
			return r, false
		}
	}
	if x.asks.conditional && !x.verdict.Admit {
		r, _ = p.flights.Follow(x.key, a)
		return r, false
	}
	return p.flights.Join(x.key, x.url, a)
}

// land acts on the name of a flight's end that gave x nothing to read.
func (p *Proxy) land(x *exchange, h *head, outcome flight.Outcome, err error) (done bool) {
	switch outcome {
	case flight.Shared: // of another variant, or of another query: join our own
		p.part(x, h)
		x.stale = nil // it was what the URL had before it varied like this
		return false
	case flight.Filled:
		return p.find(x)
	case flight.Released:
		p.alone(x, x.verdict.Admit)
	case flight.LeadAnew, flight.Left: // seen to by share
	case flight.TimedOut, flight.Failed:
		if outcome == flight.TimedOut {
			err = errNoHeader
		}
		// The leader may not have wanted what is stale; x may.
		if held := p.standInFor(&job{route: x.route, directives: x.request, resource: x.resource()}, x.stale, err); held != nil {
			x.take(held, false)
			return true
		}
		p.fail(x, err)
	}
	return true
}

// shares reports whether a follower, whose request has the directives d, may have the stored
// response that h is about. It may not have one that was validated for the leader alone, and
// a stale one only as far as its own directives allow.
func (r *route) shares(h *head, d rfc9111.RequestDirectives) bool {
	if h.as == resultRevalidated {
		return !h.cookie && usable(h.held)
	}
	if !r.HonorRequest {
		return true
	}
	kind := rfc9111.OriginFailure
	if k, failed := rfc9111.FailureOf(h.status); failed {
		kind = k
	}
	age := rfc9111.CurrentAge(h.held.InitialAge, h.held.ResponseTime, now())
	return h.held.Policy.MayServeStale(age, kind, d, true)
}

// suits reports whether x selects the variant that h is, of what its query asks for.
func (p *Proxy) suits(x *exchange, h *head) bool {
	e, base := h.selected(), p.baseFor(x, h)
	if len(e.Vary) == 0 {
		return string(base) == string(e.Name)
	}
	n := len(x.scratch)
	x.scratch = append(x.scratch, base...)
	x.scratch = x.appendVariant(x.scratch, e.Vary)
	same := string(x.scratch[n:]) == string(e.Name)
	x.scratch = x.scratch[:n]
	return same
}
