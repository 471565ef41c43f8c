package proxy

import (
	"cmp"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
)

// fetchAlone fetches for x only: other requests do not share the fetch. With admit the response may be stored; then Range and
// conditions of x are evaluated on it.
func (p *Proxy) fetchAlone(x *exchange, admit bool) {
	x.waitsFor(false)
	f := p.newFill(x, admit)
	f.request.Interim, f.request.TakesTrailers = p.interimSender(x), x.asksTrailers()
	if admit {
		f.leadUnjoinable(x, x.key)
	} else {
		f.presence = x.presence
	}
	p.answerByFill(x, f)
}

// leadUnjoinable gives f a flight that nobody can join, before the fetch begins. A purge reaches it by that flight.
func (f *fill) leadUnjoinable(x *exchange, key cache.Key) {
	x.flightReader = f.p.flights.Lead(key, f.flightURL, true, x.who)
	x.presence.Ends(x.flightReader)
	f.flight = x.flightReader.Flight()
}

// answerByFill fetches and judges f in the goroutine of x, and answers x with its response. A response that is stored goes
// through the flight of f; any other goes to x directly.
func (p *Proxy) answerByFill(x *exchange, f *fill) {
	x.fill = f
	err := f.fetchAndJudge()
	if err == nil && f.isDoubtful() {
		f.confirm()
	}
	switch h := f.head; {
	case err != nil:
		f.endFlight(x, err)
		p.fail(x, err)
		return
	case h.held != nil:
		f.endFlight(x, errUnshared)
		x.answerFrom(h, true)
		return
	}
	x.countByOutcome(f.head)
	if f.span == nil {
		if p.costsTooMuch(x, f.head, f.flight != nil) {
			p.passRange(x, f)
			return
		}
	} else {
		x.onResult = !f.head.part && f.head.status == statusOK // the origin has sent the whole
	}
	if f.flight != nil && f.head.storable() {
		p.storeFor(x, f)
		return
	}
	f.endFlight(x, errUnshared)
	if f.wholeIsTooLarge() && x.asks.ranged {
		_ = f.resp.Body.Close()
		f.account(f.head.why, 0)
		p.fetchPart(x) // rather than the whole, for a part of it
		return
	}
	x.presence.Ends(f.resp.Body)
	x.from = fromOrigin{f}
}

// wholeIsTooLarge reports whether f was to store the whole, which is too large.
func (f *fill) wholeIsTooLarge() bool {
	return f.flight != nil && f.span == nil && f.head.why == reason.TooLarge
}

// passRange leaves the response of f to the origin, for all that x wants is a small range of it, and asks for that.
func (p *Proxy) passRange(x *exchange, f *fill) {
	f.endFlight(x, errUnshared)
	_ = f.resp.Body.Close()
	f.account(cmp.Or(f.head.why, reason.SmallRange), 0)
	x.onResult = false
	p.fetchAlone(x, false)
}

// endFlight ends the flight of f, if it has one: x is answered otherwise.
func (f *fill) endFlight(x *exchange, err error) {
	if f.flight != nil {
		f.flight.Finish(err)
		_ = x.flightReader.Close()
	}
}

// storeFor stores the response of f in the goroutine of its flight. f is judged, and x is the only reader of the flight.
func (p *Proxy) storeFor(x *exchange, f *fill) {
	f.admit()
	x.from, x.fill = fromFlight{x.flightReader}, nil
	begun := p.flights.Go(x.flightReader, func(*inflight) {
		defer f.abandon()
		f.store()
	}, p.panicked)
	if !begun { // shutting down
		_ = f.resp.Body.Close()
		f.account(reason.Incomplete, 0)
	}
}
