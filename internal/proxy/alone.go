package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/reason"
)

// alone fetches for x and nobody else. With admit the response may be stored; then Range and
// conditions are evaluated on it.
func (p *Proxy) alone(x *exchange, admit bool) {
	x.waitsFor(false)
	f := p.newFill(x, admit)
	f.request.Interim, f.request.TakesTrailers = p.interimSender(x), x.asksTrailers()
	if admit {
		f.leadFor(x, x.key)
	} else {
		f.guest = x.guest
	}
	p.fillFor(x, f)
}

// leadFor gives f a flight that nobody joins, before the fetch begins. So a purge finds it.
func (f *fill) leadFor(x *exchange, key cache.Key) {
	x.seat = f.p.flights.Lead(key, f.flightURL, true, x.who)
	x.guest.Ends(x.seat)
	f.flight = x.seat.Flight()
}

// fillFor answers x by f, which it fetches and judges in the goroutine of x. A response that is
// stored goes through the flight of f; any other goes to x directly.
func (p *Proxy) fillFor(x *exchange, f *fill) {
	x.fill = f
	err := f.begin()
	switch h := f.head; {
	case err != nil:
		f.leave(x, err)
		p.fail(x, err)
		return
	case h.held != nil:
		f.leave(x, errUnshared)
		x.answerFrom(h, true)
		return
	}
	x.adopt(f.head)
	if f.span != nil {
		x.onResult = !f.head.part && f.head.status == statusOK // the origin has sent the whole
	}
	if f.flight != nil && f.head.storable() {
		p.storeFor(x, f)
		return
	}
	f.leave(x, errUnshared)
	if f.flight != nil && f.span == nil && f.head.why == reason.TooLarge && x.asks.ranged {
		_ = f.resp.Body.Close()
		f.account(f.head.why, 0)
		p.fetchPart(x) // rather than the whole, for a part of it
		return
	}
	x.guest.Ends(f.resp.Body)
	x.from = direct{f}
}

// leave ends the flight of f, if it has one: the answer to x does not come through it.
func (f *fill) leave(x *exchange, err error) {
	if f.flight != nil {
		f.flight.Finish(err)
		_ = x.seat.Close()
	}
}

// storeFor stores f, which is judged and leads a flight for x alone, in the goroutine of that
// flight. x reads from the flight.
func (p *Proxy) storeFor(x *exchange, f *fill) {
	f.admit()
	x.from, x.fill = readAlong{x.seat}, nil
	begun := p.flights.Go(x.seat, func(*inflight) {
		defer f.abandon()
		f.store()
	}, p.panicked)
	if !begun { // shutting down
		_ = f.resp.Body.Close()
		f.account(reason.Incomplete, 0)
	}
}
