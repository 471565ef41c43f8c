package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/presence"
	"edgeproxy/internal/reason"
)

// inflight is the fetching side of a flight; reader is the other one.
type inflight = flight.Flight[cache.Key, *outcome]

// fill is one fetch and all that comes of its response. A miss, a validation, a slice, a part,
// the answer to a POST that is kept, and what is fetched for one client alone are fills alike:
//
//	fetch    asks the origin. A stored response may be confirmed, or stand in for a failure.
//	judge    says what may become of the response.
//	admit    gives the head to those who wait for it.
//	store    takes the body in, and puts it into the cache.
//	account  books the fill, once, however it ends.
//
// The steps have a file each. Three functions take them: run, in the goroutine of a flight;
// Begin, in that of its leader, as far as nothing else wants that goroutine; and answerByFill, which
// begins in the goroutine of the one client that gets the response. A fill
// belongs to one goroutine at a time.
type fill struct {
	p *Proxy
	job
	asks   origin.Request // the memory of job.request, as a rule
	asking origin.Asking  // in which the origin is asked

	// flight takes the head and the body to readers, and the body to the store. Nil is a
	// response that goes to one client directly, unstored; the fetch ends when guest leaves.
	flight   *inflight
	presence *presence.Client
	shared   bool // others may read along

	call      *origin.Call     // what has begun of the first question to the origin; nil: nothing
	resp      *origin.Response // what the origin has sent; nil where the answer is a stored response
	head      *outcome         // nil until it is judged
	accounted bool

	// Of one that has concluded (leaderonly.go).

	body       []byte
	pooledBody *[]byte       // of body; nil: none was taken
	err        error         // of reading body
	concluded  bool          // nobody but its leader has had a seat in the flight
	why        reason.Reason // it is not stored though it was admitted; None: it is
}

// start begins f by the flight that r leads and tells t of interim responses, until guest has
// left.
func (f *fill) start(r *reader, t sendInterim, guest *presence.Client) {
	f.interims = handOver(f.request, t)
	if f.p.flights.Go(r, f.run, f.p.panicked) {
		f.interims.relay(t, r.Undecided, guest.Gone())
	}
}

// run is f in the goroutine of a flight. The flight ends only when the body is stored.
func (f *fill) run(to *inflight) {
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer f.abandon()
	f.flight, f.shared = to, true
	if f.fetchHead() {
		f.store()
	}
}

// fetchHead asks the origin and gives the head to those who wait for it. It reports whether a body is
// to follow; else the flight has ended.
func (f *fill) fetchHead() bool {
	if !f.fetchAndJudge() {
		return false
	}
	f.admit()
	return true
}

// fetchAndJudge asks the origin, and reports whether a response comes that is to be admitted; else the flight has ended.
func (f *fill) fetchAndJudge() bool {
	switch err := f.begin(); {
	case err != nil:
		f.flight.Finish(err)
	case f.head.held != nil:
		f.flight.Answer(f.head)
	default:
		return true
	}
	return false
}

// begin asks the origin and judges what it answers. Without an error there is a head: that of
// the response, or one that holds a stored response in its place.
func (f *fill) begin() error {
	if err := f.fetch(); err != nil || f.head != nil {
		return err
	}
	if f.flight != nil && !f.flight.Judge() {
		return errUnshared
	}
	f.head = f.p.judge(&f.job, f.resp)
	f.p.markHitForMiss(&f.job, f.head, f.resp)
	f.p.removeSuperseded(&f.job, f.head)
	return nil
}

// abandon lets go of the response, wherever f is. What was judged is booked all the same.
func (f *fill) abandon() {
	if f.resp != nil {
		f.resp.Abandon()
	}
	if f.call != nil {
		f.call.Abandon()
	}
	f.account(reason.Panic, 0)
}
