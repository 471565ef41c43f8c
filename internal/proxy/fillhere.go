package proxy

import (
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
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
	f.route.boundTotal(f.request)
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

// fillMemory is memory that nearly every fill needs. A fill whose response only one client gets (fillhere.go) leaves it to the
// next fill. A copy of a job must not have it.
type fillMemory struct {
	header field.List // the fields of the question to the origin
	fields field.List // the fields that are forwarded
	name   []byte     // the key
	out    outcome
	entry  cache.Entry

	outTaken, entryTaken bool
}

// newOutcome returns an empty outcome.
func (r *fillMemory) newOutcome() *outcome {
	if r.outTaken {
		return &outcome{}
	}
	r.outTaken = true
	return &r.out
}

// newEntry returns an empty entry.
func (r *fillMemory) newEntry() *cache.Entry {
	if r.entryTaken {
		return &cache.Entry{}
	}
	r.entryTaken = true
	return &r.entry
}

// acquireFill returns an empty fill with memory.
func (p *Proxy) acquireFill() *fill {
	f := p.fills.Get().(*fill)
	f.p = p
	f.request = &f.asks
	return f
}

// mostListKept bounds the capacity of a list that is kept, in fields; mostNameKept that of a key, in bytes.
const (
	mostListKept = 64
	mostNameKept = 4 << 10
)

// releaseFill gives f back. Nobody may use f after that.
func (p *Proxy) releaseFill(f *fill) {
	kept := fillMemory{header: emptied(f.asks.Header), fields: emptied(f.memory.out.fields), name: f.exact.name[:0]}
	if cap(kept.name) > mostNameKept {
		kept.name = nil
	}
	*f = fill{}
	f.memory = kept
	p.fills.Put(f)
}

// emptied returns the room of list for another one, without any of its strings.
func emptied(list field.List) field.List {
	if cap(list) > mostListKept {
		return nil
	}
	clear(list)
	return list[:0]
}

// leaderOnly is the source of an answer that only the leader of a flight wants, and whose head and body came in one read. Most
// misses are that. The flight ends before the answer is made. The body is copied once, from the buffer of the origin's connection to
// that of the answer. Memory and stage copy it again; a disk writes it from there.
type leaderOnly struct{ *fill }

func (l leaderOnly) heading(x *exchange) heading { return x.headingFetched(l.head) }

func (l leaderOnly) send(x *exchange, c selection) {
	x.stale = nil // it may have left the cache
	if l.head.length == 0 {
		return
	}
	x.bytes = c.length
	x.answer.Say(l.body.Bytes()[c.first : c.first+c.length])
}

func (leaderOnly) leave(*exchange) {}

func (leaderOnly) abandon() {}

// concludes ends the flight if the response came whole and only the leader wants it, and reports whether it did. The leader
// is then answered by it, unless its body has failed: f.err says so.
func (f *fill) concludes() bool {
	x, h := f.asker, f.head
	switch {
	case !f.resp.Here, h.isForOtherTarget(x), h.changesKey():
		return false
	case !h.storable():
		return f.concludesUnstored(h.why)
	case h.length > f.p.MaxObjectBytes: // which counts as too large
		return false
	case x.verdict.Admit, f.keepsInStage(h.length):
		return f.concludesStored(x.verdict.Admit)
	}
	return f.concludesUnstored(reason.FirstSighting)
}

func (f *fill) concludesUnstored(why reason.Reason) bool {
	x := f.asker
	if !x.flightReader.Conclude(false) {
		return false
	}
	x.leaderOnly, f.err = f, errNotHere // also after a panic
	if f.err = f.takeBody(); f.err != nil && f.head.storable() {
		why = reason.Incomplete
	}
	f.account(why, f.head.length)
	f.concluded = true
	return true
}

// concludesStored is concludes for a response that is admitted, or goes to the stage. It is stored before the flight ends. A request
// that joins meanwhile looks it up in the store.
func (f *fill) concludesStored(admitted bool) bool {
	x, h := f.asker, f.head
	w := f.p.Store.Write()
	if !w.AtOnce(h.length, admitted) || !x.flightReader.Alone() {
		return false
	}
	f.why = reason.Incomplete
	if f.err = f.takeBody(); f.err == nil {
		f.note()
		o := w.CommitBuffer(h.entry, f.body, admitted, f.p.purgedCheck(&f.job, h.entry, f.flight.Purged))
		if f.why = reasonOf(o); !admitted && o != cache.Purged {
			f.why = reason.FirstSighting // whatever the policy calls it; see account
		}
		f.trace.stored(f.why)
	}
	f.account(f.why, h.length)
	if f.concluded = x.flightReader.Conclude(true); !f.concluded {
		f.flight.Fill()
	}
	x.leaderOnly = f
	return true
}

// storedOrWhy returns what Cache-Status says of an admitted response: that it is stored, or why not. If a purge came during the
// fetch it says stored, too: a longer response says it before that can be known.
func (f *fill) storedOrWhy() (stored bool, why reason.Reason) {
	if f.why == reason.None || f.why == reason.Purged {
		return true, reason.None
	}
	return false, f.why
}

// takeBody copies the body, which has arrived whole.
func (f *fill) takeBody() error {
	resp := f.resp
	if resp.ContentLength == 0 {
		return nil // it has ended by itself
	}
	f.body = buffer.Get(resp.ContentLength)
	if !resp.Body.TakeHere(f.body.Bytes()) {
		return errNotHere
	}
	return nil
}

var errNotHere = &origin.Error{Kind: origin.Fault, Op: "read the response body", Err: errors.New("the body in memory does not match its Content-Length")}

// ownResponse makes the response of a fill that has concluded the answer to x, and reports whether there was one. x leads the
// flight of r, and leaves it.
func (x *exchange) ownResponse(r *reader) bool {
	f := x.leaderOnly
	if f == nil {
		return false
	}
	x.flightReader = nil
	if f.concluded {
		r.Recycle()
	} else {
		_ = r.Close()
	}
	if f.err != nil { // f may still be in use: its memory is left to the collector
		x.p.fail(x, f.err)
		return true
	}
	x.answer.Held = leaderOnly{f} // the answer is sent from what f has when x is long recorded
	x.collapsed, x.onResult = false, true
	x.from = leaderOnly{f}
	return true
}

// Close implements io.Closer: the answer was sent, so the memory of the fill can be used again.
func (l leaderOnly) Close() error {
	l.body.Release()
	l.resp.Recycle()
	l.p.releaseFill(l.fill)
	return nil
}
