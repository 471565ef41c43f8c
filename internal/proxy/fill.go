package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// inflight is the fetching side of a flight; reader is the other one.
type inflight = flight.Flight[cache.Key, *outcome]

// fill is one fetch and what is done with its response. A miss, a validation, a slice, a part, a POST whose answer is kept, and
// a fetch for one client only are all fills:
//
//	fetch    asks the origin. A 304 renews the stored response; a failure may be answered by a stale one.
//	judge    decides what may be done with the response (RFC 9111), and whether it is worth what would have to leave for it.
//	confirm  asks again where an error would take the place of an answer.
//	admit    gives the head to the clients that wait for it.
//	store    reads the body, and puts it into the cache.
//	account  counts the fill, once, however it ends.
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

	// flight takes the head and the body to readers, and the body to the store. If it is nil the response goes to one client
	// directly and is not stored; the fetch ends when that client leaves.
	flight   *inflight
	presence *presence.Client
	shared   bool // other clients may read the flight
	refresh  bool // it validates in the background what has been sent stale

	call      *origin.Call     // the first request to the origin, if it has begun; else nil
	resp      *origin.Response // what the origin has sent; nil where the answer is a stored response
	head      *outcome         // nil until it is judged
	accounted bool

	// Of one that has concluded (leaderonly.go).

	body      *buffer.Buffer // nil: none was taken
	err       error          // of reading body
	concluded bool           // only the leader was in the flight
	why       reason.Reason  // it is not stored though it was admitted; None: it is
}

// start runs f in the flight that r leads. Interim responses go to t until the client has left.
func (f *fill) start(r *reader, t sendInterim, waiting *presence.Client) {
	f.interims = handOver(f.request, t)
	if f.p.flights.Go(r, f.run, f.p.panicked) {
		f.interims.relay(t, r.Undecided, waiting.Gone())
	}
}

// run is f in the goroutine of a flight. The flight ends only when the body is stored.
func (f *fill) run(to *inflight) {
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer f.abandon()
	f.flight, f.shared = to, true
	if f.fetchInFlight() {
		f.finish()
	}
}

// finish admits and stores the judged response, which is asked for again where it is doubtful.
func (f *fill) finish() {
	if f.isDoubtful() {
		if f.confirm(); f.head.held != nil {
			f.flight.Answer(f.head)
			return
		}
	}
	f.admit()
	f.store()
}

// fetchInFlight asks the origin and judges the response. It reports whether that has to be admitted; else the flight has ended.
func (f *fill) fetchInFlight() bool {
	switch err := f.fetchAndJudge(); {
	case err != nil:
		f.flight.Finish(err)
	case f.head.held != nil:
		f.flight.Answer(f.head)
	default:
		return true
	}
	return false
}

// fetchAndJudge asks the origin and judges its response. Without an error there is a head: that of the response, or one with the stored
// response that is the answer instead.
func (f *fill) fetchAndJudge() error {
	if err := f.fetch(); err != nil || f.head != nil {
		return err
	}
	if f.flight != nil && !f.flight.Judge() {
		return errUnshared
	}
	f.head = f.p.judge(&f.job, f.resp)
	f.compete()
	f.p.markHitForMiss(&f.job, f.head, f.resp)
	f.p.removeSuperseded(&f.job, f.head)
	return nil
}

// abandon closes the response, at whatever step f is. A fill that was judged is counted all the same.
func (f *fill) abandon() {
	if f.resp != nil {
		f.resp.Abandon()
	}
	if f.call != nil {
		f.call.Abandon()
	}
	f.account(reason.Panic, 0)
}
