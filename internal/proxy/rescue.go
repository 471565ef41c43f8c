package proxy

import (
	"errors"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/proxy/internal/flight"
)

// A panic ends one request. Where it is recovered, what the request holds is given back: its
// places, its part in a flight, its connection to the origin. Before the head has left the client
// gets a 500; after that its connection ends.

// finish ends what Begin or Finish does: a panic becomes a 500 for this request alone, and
// what has all of its answer in memory is recorded. Content that is streamed records when it is
// closed.
func (p *Proxy) finish(x *exchange) {
	if v := recover(); v != nil {
		x.waits = false
		p.rescue(x, v)
	}
	if !x.streaming && !x.waits {
		p.record(x)
		return
	}
	p.noteRunning(x)
}

// rescue makes the answer of x, which has panicked with v, a 500.
func (p *Proxy) rescue(x *exchange, v any) {
	p.Panics.Note(v)
	p.logPanic(x, statusInternalServerError, v) // while x has what it was about
	p.abandon(x)
	x.closing, x.uncounted = true, false
	p.Panics.Quietly(func() {
		p.refuse(x, statusInternalServerError, reason.Panic)
		p.deliver(x)
	})
	x.answer.Last = true // also where that has panicked
}

// abandon lets go of the answer that was under way. A panic in one step does not skip the
// others.
func (p *Proxy) abandon(x *exchange) {
	if x.body != nil {
		x.body.closed.Store(true) // it no longer records x
		_ = x.body.sending.Close()
		p.Panics.Quietly(x.body.abandon)
		x.body, x.streaming = nil, false
	}
	if x.from != nil {
		p.Panics.Quietly(x.from.abandon)
	}
	if x.sliced != nil {
		p.Panics.Quietly(x.sliced.abandon)
	}
	if x.flightReader != nil {
		p.Panics.Quietly(x.flightReader.Abandon)
	}
	if x.fill != nil {
		p.Panics.Quietly(x.fill.abandon)
	}
	if x.originResponse != nil {
		p.Panics.Quietly(x.originResponse.Abandon)
	}
	if x.answer.Held != nil && x.leaderOnly == nil { // after a panic a fill may still be in use: its memory is left to the collector
		_ = x.answer.Held.Close()
	}
	x.answer.Reset()
	x.room.empty()
	x.from, x.sliced, x.flightReader, x.originResponse, x.fill, x.leaderOnly = nil, nil, nil, nil, nil, nil
	x.stale, x.opened = nil, nil
}

// errPanicked ends a body in whose midst something has panicked.
var errPanicked = errors.New("panic")

// rescue is deferred by what sends a body: a panic becomes the end of the connection.
func (b *body) rescue(err *error) {
	if v := recover(); v != nil {
		b.p.Panics.Note(v)
		b.p.logPanic(b.x, b.x.sent, v)
		b.x.reason, b.broken = reason.Panic, true
		b.x.brokeOff(errPanicked)
		if b.slices != nil {
			b.p.Panics.Quietly(b.slices.abandon) // Close does not know of a slice that is being got
		}
		*err = errPanicked
	}
}

// fetchPanicked notes a panic that has ended a flight, once for all who read it.
func (p *Proxy) fetchPanicked(e *flight.PanicError) {
	p.Panics.NoteError(&rescue.Error{Value: e.Value, Stack: e.Stack})
}

// isPanic reports whether err is a panic of ours. It was noted where it was recovered.
func isPanic(err error) bool {
	if _, ok := errors.AsType[*flight.PanicError](err); ok {
		return true
	}
	_, ok := errors.AsType[*rescue.Error](err)
	return ok
}
