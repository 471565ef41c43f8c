package proxy

import (
	"errors"
	"io"

	"edgeproxy/internal/conn/pinned"
)

// shortFetch is the length of the longest body that a leader reads to its end before it answers.
const shortFetch = 32 << 10

// fromFlight answers with what a flight brings, as its leader or a follower reads it.
type fromFlight struct{ r *reader }

func (f fromFlight) heading(x *exchange) heading { return x.headingFetched(f.r.Header()) }

func (f fromFlight) send(x *exchange, c selection) {
	h := f.r.Header()
	if h.length == 0 {
		f.leave(x)
		return
	}
	var begun []byte
	if h.here && h.length <= shortFetch {
		var whole bool
		if begun, whole = f.whole(h.length); whole {
			_ = f.r.Close()
			x.stale = nil // it may have left the cache
			x.bytes = c.length
			if e := h.entry; e != nil && h.length > pinned.Least {
				x.p.sendingOf(x).Hold(e.Pin)
			}
			x.answer.Say(begun[c.first : c.first+c.length])
			return
		}
	}
	x.announceTrailers(h, c)
	b := x.p.stream(x, c)
	b.along = flightBody{p: x.p, x: x, r: f.r, begun: begun}
	b.src, b.closer = &b.along, &b.along
	if e := h.entry; e != nil {
		b.sending.Hold(e.Pin) // once it is stored it may leave the cache before x has all of it
	}
}

// whole reads a small body of length bytes that is here: head and body then leave in one write. It
// waits until the store has it, as every reader does for the last bytes. If that is not the whole
// body in one piece, it returns what it has read.
func (f fromFlight) whole(length int64) (begun []byte, ok bool) {
	begun, err := f.r.Next()
	if err != nil || int64(len(begun)) != length {
		return begun, false
	}
	rest, err := f.r.Next()
	return begun, len(rest) == 0 && errors.Is(err, io.EOF)
}

// leave implements source. What is read along goes on if somebody else wants it; an empty body is
// awaited, so that it is stored before the client can ask again.
func (f fromFlight) leave(*exchange) {
	if f.r.Header().length == 0 {
		_, _ = f.r.Next()
	}
	_ = f.r.Close()
}

func (f fromFlight) abandon() { f.r.Abandon() }

// reader returns the part that x has in the flight that it is answered by; nil: in none.
func (x *content) reader() *reader {
	if f, ok := x.from.(fromFlight); ok {
		return f.r
	}
	return nil
}

// fetched returns the head of the response that x is answered with, where that was fetched for x;
// else nil.
func (x *content) fetched() *outcome {
	switch from := x.from.(type) {
	case fromFlight:
		return from.r.Header()
	case leaderOnly:
		return from.head
	case fromOrigin:
		return from.head
	}
	return nil
}

// fromOrigin answers with what an origin sends to this client alone: the response of its fill.
type fromOrigin struct{ *fill }

func (d fromOrigin) heading(x *exchange) heading { return x.headingFetched(d.head) }

func (d fromOrigin) send(x *exchange, c selection) {
	if d.head.length == 0 {
		d.leave(x)
		return
	}
	x.announceTrailers(d.head, c)
	b, from := x.p.stream(x, c), d.resp.Body
	b.src, b.closer = from, from
	if c.length < 0 || c.length > streamBuffer { // more than is read at once
		x.p.streams.Begin(&b.ahead, from, x.who)
		b.src, b.closer = &b.ahead, &b.ahead
	}
}

func (d fromOrigin) leave(x *exchange) { x.ended(d.resp.Body.Close() == nil) }

func (d fromOrigin) abandon() { _ = d.resp.Body.Close() }

// headingFetched is what the head of an answer is made of that was fetched.
func (x *exchange) headingFetched(h *outcome) heading {
	x.p.describe(x, h)
	how := notEvaluated
	if x.onResult {
		how = onResponse // a stream comes in one part, or whole
	}
	return heading{clientHead: h.clientHead(x.collapsed), status: h.status, size: h.length, at: x.start, evaluation: how}
}
