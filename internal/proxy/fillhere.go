package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

var _ flight.Fetch[cache.Key, *outcome] = (*fill)(nil)

// fetchAsLeader is start for x, the only client of a flight, which it leads. A goroutine costs more than the rest of most
// fetches. So the leader's own goroutine fetches as long as it need not wait for anything else: it asks the origin on an idle
// connection, waits for the head, and takes a body that has arrived with it. The fetch moves to a goroutine of its own
//
//   - where it has to wait for anything else: a connection, a body, another try;
//   - when the client leaves, for others may want the response;
//   - when somebody who waits for it leads another flight, which may have a header before it.
//
// Followers that wait or read need no goroutine of the flight's: the leader's is not held up by its
// client before the body is whole.
func (f *fill) fetchAsLeader(r *reader, x *exchange) {
	if f.stale != nil { // its 304 may have to be followed by another question
		f.start(r, f.p.interimSender(x), x.presence)
		return
	}
	f.asker = x
	if f.p.flights.Run(r, f, f.p.panicked) && f.interims != nil {
		f.interims.relay(f.p.interimSender(x), r.Undecided, x.presence.Gone())
	}
}

// Begin implements flight.Fetch: it is run as far as it goes in the goroutine of the leader, and
// returns the rest.
func (f *fill) Begin(to *inflight) (rest func(*inflight)) {
	x := f.asker
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer func() {
		if rest == nil {
			f.abandon()
		}
	}()
	f.flight, f.shared = to, true
	if !f.awaitHead(x.presence) {
		f.interims = handOver(f.request, f.p.interimSender(x))
		return f.run
	}
	switch {
	case !f.fetchInFlight():
		return nil
	case f.isDoubtful():
		return f.finishInFlight
	case f.concludes():
		return nil
	}
	if f.admit(); f.resp.Here {
		f.store()
		return nil
	}
	return f.storeInFlight
}

// storeInFlight is what Begin leaves where the body is still to come.
func (f *fill) storeInFlight(*inflight) {
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer f.abandon()
	f.store()
}

// finishInFlight is what Begin leaves where the origin has to be asked again.
func (f *fill) finishInFlight(*inflight) {
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer f.abandon()
	f.finish()
}

// awaitHead asks the origin and waits for the head, until something else wants the goroutine of the leader.
// Without a head it reports false.
func (f *fill) awaitHead(waiting *presence.Client) bool {
	f.route.beginExchange(f.request)
	call := f.route.Origin.Start(f.flight.Context(), f.request)
	if f.call = call; call == nil || !f.flight.Waits(call) {
		return false
	}
	waiting.Ends(nudging{call})
	defer waiting.Ends(nil)
	if !call.Ready() {
		f.flight.Waited()
		return false
	}
	return true // and Judge will say that it has waited
}

// nudging is a Call that Close nudges.
type nudging struct{ *origin.Call }

func (n nudging) Close() error {
	n.Nudge()
	return nil
}
