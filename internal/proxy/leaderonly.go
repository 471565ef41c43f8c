package proxy

import (
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
)

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
