package proxy

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/readahead"
)

// streamBuffer is what the body of an origin's response is copied through where the front has no
// buffer for it.
const streamBuffer = 32 << 10

// body is a response body on its way to the client. Where neither the kernel nor internal/conn/pace
// ends the connection of a stalled client, each write has a deadline, and meter holds the client
// to its pace. The front owns it and closes it; then the request is recorded.
type body struct {
	p       *Proxy
	x       *exchange
	src     io.Reader
	closer  io.Closer // closes src; nil: it needs none
	slices  *slicing  // src, if it is that
	sending *pace.Sending
	pin     *pinned.Body // the slice that is being sent
	meter   pace.Meter   // where WriteIdleTimeout is there
	last    int          // bytes whose time has begun
	since   time.Time
	skip    int64  // bytes still to leave out, for a range
	left    int64  // bytes still to send; -1: all
	part    bool   // a range: not to the end of the source
	whole   bool   // the origin's body was read to its end
	broken  bool   // it ended before that, and not because of a write
	closes  bool   // with trailers, if there are any
	buffer  []byte // for Next, where the source has none
	end     error  // what Next says behind the last piece
	closed  atomic.Bool

	along flightBody     // src, where that is a flight
	ahead readahead.Body // src, where that is an origin's body that may be read ahead
}

// streamed is content that is read from elsewhere.
type streamed struct{ *body }

var (
	_ message.Content = (*streamed)(nil)
	_ io.Reader       = (*streamed)(nil)
	_ message.Content = (*pieces)(nil)
)

// stream sends the body of x's answer, or the part that cut leaves of it. The caller then sets
// b.src.
func (p *Proxy) stream(x *exchange, c selection) *body {
	b := p.newBody(x)
	b.skip, b.left, b.part = c.first, c.length, c.status != 0
	b.closes = c.length < 0 && x.takesTrailers()
	x.answer.Content = &streamed{b}
	return b
}

// newBody makes the body of x's answer; what it is read from is still to be said.
func (p *Proxy) newBody(x *exchange) *body {
	b := &body{p: p, x: x, sending: p.Sends.Begin(x.req.Conn, x.start)}
	if p.WriteIdleTimeout > 0 {
		b.meter = pace.NewMeter(p.SendRate)
	}
	x.body, x.streaming, x.firstByte = b, true, -1
	x.stale = nil // has been asked for, and may have left the cache
	return b
}

// Bytes implements message.Content.
func (b *body) Bytes() net.Buffers { return nil }

// Read gives the next piece of the body.
func (b *streamed) Read(p []byte) (n int, err error) {
	defer b.rescue(&err)
	if err := b.leaveOut(p); err != nil {
		return 0, err
	}
	if b.left == 0 && b.part {
		return 0, io.EOF // what follows the range may be long in coming
	}
	if b.left == 0 {
		// Let the source see its end, so that its connection can be used again.
		if n, err := b.src.Read(p[:1]); n == 0 && errors.Is(err, io.EOF) {
			b.whole = true
		}
		return 0, io.EOF
	}
	if b.left > 0 {
		p = p[:min(int64(len(p)), b.left)]
	}
	if err := b.written(); err != nil {
		return 0, err
	}
	n, err = b.src.Read(p)
	b.sent(n)
	if err != nil {
		return n, b.ending(err)
	}
	return n, nil
}

// leaveOut reads what comes before a range, into p where that has room: it may be as short as the range.
func (b *streamed) leaveOut(p []byte) error {
	if b.skip > int64(len(p)) && len(p) < streamBuffer {
		p = make([]byte, min(b.skip, streamBuffer))
	}
	for b.skip > 0 {
		n, err := b.src.Read(p[:min(int64(len(p)), b.skip)])
		b.skip -= int64(n)
		if err != nil {
			return b.cutShort(err)
		}
	}
	return nil
}

// errSlowClient ends a body that its client takes below limits.send_rate.
var errSlowClient = errors.New("the client reads the response below limits.send_rate")

// written notes that the bytes of the last sent were written.
func (b *body) written() error {
	if b.last == 0 || b.p.WriteIdleTimeout <= 0 {
		return nil
	}
	slow := b.meter.Add(b.last, now().Sub(b.since))
	if b.last = 0; !slow {
		return nil
	}
	b.p.slowReaders.Add(1)
	b.x.reason, b.broken = reason.Incomplete, true
	return errSlowClient
}

// sent counts n bytes about to be written and gives the write its time.
func (b *body) sent(n int) {
	if s := b.slices; s != nil {
		b.keep(s.pin())
	}
	at := now()
	b.last, b.since = n, at
	if b.x.firstByte < 0 {
		b.x.firstByte = at.Sub(b.x.start)
	}
	b.x.bytes += int64(n)
	b.x.run.Sent(b.x.bytes)
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.x.presence.Sent()
	b.ahead.Sent(at)
	if b.p.WriteIdleTimeout > 0 {
		_ = b.x.req.Deadlines.SetWriteDeadline(at.Add(b.p.WriteIdleTimeout))
	}
}

// keep holds pin for what is being sent, and lets go of the one before.
func (b *body) keep(pin *pinned.Body) {
	if pin != b.pin {
		b.sending.Release(b.pin)
		b.sending.Hold(pin)
		b.pin = pin
	}
}

// ending passes on the end of the source. An end before the announced length is an error.
func (b *body) ending(err error) error {
	if errors.Is(err, io.EOF) {
		if b.left > 0 {
			b.broken = true
			b.x.brokeOff(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		b.whole = true
		return io.EOF
	}
	return b.cutShort(err)
}

// cutShort names a broken body; the client sees the connection close.
func (b *body) cutShort(err error) error {
	b.broken = true
	b.p.cutOff(b.x, err)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close ends the body, whole or not, and records the request.
func (b *body) Close() (err error) {
	if b.closed.Swap(true) {
		return nil
	}
	defer b.p.record(b.x)
	defer func() { _ = b.sending.Close() }()
	defer b.rescue(&err)
	if b.closer != nil {
		_ = b.closer.Close()
	}
	if _, ok := b.x.from.(fromOrigin); ok {
		b.x.ended(b.whole)
	}
	if !b.whole && !b.broken && b.left != 0 {
		b.x.reason = reason.ClientGone // a write failed: it has left, or was let go
	}
	return nil
}

// abandon lets go of what the body alone has.
func (b *body) abandon() {
	if b.ahead.Begun() {
		_ = b.ahead.Close()
	}
	if b.along.rest != nil {
		_ = b.along.rest.Close()
	}
}

// Next implements message.Content. A flight's pieces are not copied.
func (b *streamed) Next() (piece []byte, err error) {
	defer b.rescue(&err)
	if err := b.written(); err != nil {
		return nil, err
	}
	for b.end == nil {
		if b.left == 0 && b.part {
			b.end = io.EOF
			break
		}
		piece, err := b.next()
		if b.left == 0 { // all was sent: see its end, so that its connection can be used again
			b.whole, b.end = len(piece) == 0 && errors.Is(err, io.EOF), io.EOF
			break
		}
		piece = b.trim(piece)
		if len(piece) > 0 {
			b.sent(len(piece))
		}
		if err != nil {
			b.end = b.ending(err)
		}
		if len(piece) > 0 {
			return piece, nil
		}
	}
	return nil, b.end
}

// next reads from the source.
func (b *streamed) next() ([]byte, error) {
	if b.along.r != nil {
		return b.along.Next()
	}
	if b.buffer == nil {
		size := int64(streamBuffer)
		if b.left >= 0 {
			size = max(min(size, b.skip+b.left), 1)
		}
		b.buffer = make([]byte, size)
	}
	n, err := b.src.Read(b.buffer)
	return b.buffer[:n], err
}

// trim leaves of p what is to be sent.
func (b *streamed) trim(p []byte) []byte {
	skip := min(b.skip, int64(len(p)))
	p = p[skip:]
	b.skip -= skip
	if b.left >= 0 {
		p = p[:min(int64(len(p)), b.left)]
	}
	return p
}

// Trailers (RFC 9110 section 6.5) go from the origin to a client that takes them, behind
// a body sent in chunks, and from a client to the origin behind an upload that goes on
// in chunks. rfc9111.Trailers says which fields may. They are never merged into a header
// and never stored: a hit has none, and so has a follower, which gets what a hit would. The
// leader of a flight gets them with its end.
//
// An origin is told by TE that they are welcome only where its answer goes to that
// client alone, for TE speaks for all that get it (RFC 9110 section 10.1.4). TE is not in
// the key, so what varies on it is then not stored.

// announced returns the names of the trailers that may come behind resp; "" if none may.
func announced(resp *origin.Response) string {
	if resp.ContentLength >= 0 || !resp.Body.Framed() { // it does not come in chunks
		return ""
	}
	return rfc9111.Announced(resp.Header)
}

// takesTrailers reports whether the client of x takes trailers behind a body in chunks, and
// may have them.
func (x *exchange) takesTrailers() bool {
	if x.collapsed {
		return false
	}
	return x.req.TakesTrailers || x.asksTrailers()
}

// announceTrailers adds the announcement of trailers to the head of x's answer, which is h cut like c, if
// they may come and the client takes them.
func (x *exchange) announceTrailers(h *outcome, c selection) {
	if c.length < 0 && h.announced != "" && x.takesTrailers() {
		x.addLine("Trailer: ", h.announced)
	}
}

// Trailers returns those that the client gets behind a body that has ended.
func (b *body) Trailers() field.List {
	switch {
	case !b.closes:
		return nil
	case b.along.rest != nil: // it was left behind by the flight that knows them
		return nil
	case b.along.r != nil:
		return b.along.r.Header().trailers
	}
	if d, ok := b.x.from.(fromOrigin); ok {
		return trailersOf(d.resp, b.x.route)
	}
	return nil
}
