package proxy

import "edgeproxy/internal/origin"

// readAlong answers with what a flight brings, as its leader or a follower reads it.
type readAlong struct{ r *reader }

func (readAlong) heading(x *exchange) heading { return x.headingFetched() }

func (f readAlong) send(x *exchange, c cut) {
	if x.head.length == 0 {
		f.leave(x)
		return
	}
	x.announceTrailers(c)
	b := x.p.stream(x, c)
	b.along = along{p: x.p, x: x, r: f.r}
	b.src, b.closer = &b.along, &b.along
	if e := x.head.entry; e != nil {
		b.sending.Hold(e.Pin) // once it is stored it may leave the cache before x has all of it
	}
}

// leave implements source. What is read along goes on if somebody else wants it; an empty body is
// awaited, so that it is stored before the client can ask again.
func (f readAlong) leave(x *exchange) {
	if x.head.length == 0 {
		_, _ = f.r.Next()
	}
	_ = f.r.Close()
}

func (f readAlong) abandon() { f.r.Abandon() }

// reader returns the part that x has in the flight that it is answered by; nil: in none.
func (x *exchange) reader() *reader {
	if f, ok := x.from.(readAlong); ok {
		return f.r
	}
	return nil
}

// direct answers with what an origin sends to this client alone.
type direct struct{ *origin.Response }

func (direct) heading(x *exchange) heading { return x.headingFetched() }

func (d direct) send(x *exchange, c cut) {
	if x.head.length == 0 {
		d.leave(x)
		return
	}
	x.announceTrailers(c)
	b := x.p.stream(x, c)
	b.src, b.closer = d.Body, d.Body
	if c.length < 0 || c.length > streamBuffer { // more than is read at once
		b.ahead.streams, b.ahead.src, b.ahead.client = &x.p.streams, d.Body, x.who
		x.p.streams.add(&b.ahead)
		b.src, b.closer = &b.ahead, &b.ahead
	}
}

func (d direct) leave(x *exchange) { x.ended(d.Body.Close() == nil) }

func (d direct) abandon() { _ = d.Body.Close() }

// headingFetched is what the head of an answer is made of that was fetched.
func (x *exchange) headingFetched() heading {
	h := x.head
	g := h.given(x.collapsed)
	c := cut{length: h.length}
	if x.onResult && x.selective() {
		c = x.evaluate(g.rep, h.length, x.settings.Ranges) // but a stream comes in one part, or whole
	}
	x.p.describe(x)
	return heading{status: h.status, fields: g.fields, cut: c, size: h.length, held: g.entry, at: x.start}
}
