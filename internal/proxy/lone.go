package proxy

import (
	"errors"
	"math/bits"
	"sync"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/pinned"
	"edgeproxy/internal/reason"
)

// leaderOnly answers with a response that came whole, head and body in one read, and that nobody but
// the leader of its flight has asked for: what most misses are. The flight has ended before the answer
// is made, and the body goes from the buffer of the connection to that of the answer. What is stored of it is a copy.
type leaderOnly struct{ *fill }

func (l leaderOnly) heading(x *exchange) heading { return x.headingFetched(l.head) }

func (l leaderOnly) send(x *exchange, c selection) {
	x.stale = nil // it may have left the cache
	if l.head.length == 0 {
		return
	}
	x.bytes = c.length
	x.answer.Say(l.body[c.first : c.first+c.length])
}

func (leaderOnly) leave(*exchange) {}

func (leaderOnly) abandon() {}

// concludes reports whether the response is the leader's alone. Then the flight has ended, and the leader is answered
// with it; or its body has failed, as f.err says.
func (f *fill) concludes() bool {
	x, h := f.asker, f.head
	switch {
	case !f.resp.Here, h.isForOtherTarget(x), h.changesKey():
		return false
	case !h.storable():
		return f.concludesUnstored(h.why)
	case h.length > f.p.MaxObjectBytes: // which counts as too large
		return false
	case x.verdict.Admit:
		return f.concludesStored()
	case f.keepsInStage(h.length):
		return false
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

// concludesStored stores a response that the store copies. Who joins the flight meanwhile looks again.
func (f *fill) concludesStored() bool {
	x, h := f.asker, f.head
	w := f.p.Store.Write()
	if h.length > pinned.Least || w.Wants() || !x.flightReader.Alone() {
		return false
	}
	f.why = reason.Incomplete
	if f.err = f.takeBody(); f.err == nil {
		o, _ := w.Commit(h.entry, f.body, true, f.p.purgedCheck(&f.job, h.entry, f.flight.Purged))
		f.why = f.trace.stored(reasonOf(o))
	}
	f.account(f.why, h.length)
	if f.concluded = x.flightReader.Conclude(true); !f.concluded {
		f.flight.Fill()
	}
	x.leaderOnly = f
	return true
}

// storedOrWhy is what Cache-Status has of a response that was admitted and is the leader's alone: stored, or why not. One that a purge
// has overtaken says stored, as a longer one does whose header is sent before.
func (f *fill) storedOrWhy() (stored bool, why reason.Reason) {
	if f.why == reason.None || f.why == reason.Purged {
		return true, reason.None
	}
	return false, f.why
}

// takeBody copies the body, all of which is here.
func (f *fill) takeBody() error {
	resp := f.resp
	if resp.ContentLength == 0 {
		return nil // it has ended by itself
	}
	f.pooledBody = acquireBody(resp.ContentLength)
	f.body = (*f.pooledBody)[:resp.ContentLength]
	if !resp.Body.TakeHere(f.body) {
		return errNotHere
	}
	return nil
}

var errNotHere = &origin.Error{Kind: origin.Fault, Op: "read the response body", Err: errors.New("it is not as long as what has come")}

// ownResponse ends what x, which leads the flight of r, has to do with that where its fill has concluded. It reports whether
// x is answered.
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
	if f.err != nil { // nobody knows who has the memory of f
		x.p.fail(x, f.err)
		return true
	}
	x.answer.Held = leaderOnly{f} // the answer is sent from what f has when x is long recorded
	x.collapsed, x.onResult = false, true
	x.from = leaderOnly{f}
	return true
}

// Close implements io.Closer: the answer was sent, and nobody knows the fill any more.
func (l leaderOnly) Close() error {
	releaseBody(l.pooledBody)
	l.resp.Recycle()
	l.p.releaseFill(l.fill)
	return nil
}

// Rooms for bodies have sizes that double, so that a client which takes its time keeps at most twice its body. A response that
// is here has come by one read, of origin's buffer, and is no longer than the largest of them.
const (
	leastRoom = 1 << 10
	roomSizes = 5
)

var bodyRooms [roomSizes]sync.Pool

// poolFor returns which size n bytes take; roomSizes where they are too many.
func poolFor(n int64) int { return min(bits.Len64(uint64(max(n, 1)-1)/leastRoom), roomSizes) } //nolint:gosec // at least 0

// acquireBody returns room for n bytes at least.
func acquireBody(n int64) *[]byte {
	size := poolFor(n)
	if size == roomSizes {
		b := make([]byte, n)
		return &b
	}
	if b, _ := bodyRooms[size].Get().(*[]byte); b != nil {
		return b
	}
	b := make([]byte, leastRoom<<size)
	return &b
}

// releaseBody gives b, which nobody reads any more, back; nil is nothing.
func releaseBody(b *[]byte) {
	if b == nil {
		return
	}
	if size := poolFor(int64(len(*b))); size < roomSizes {
		bodyRooms[size].Put(b)
	}
}
