package proxy

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// streamBuffer is what a pass-through body is copied through where it is sent in
// chunks.
const streamBuffer = 32 << 10

// body is a response body on its way to the client. Every write of it has its
// own deadline, so that a slow client gets all of it and a stalled one is let
// go. It belongs to fasthttp, which closes it; then the request is recorded.
type body struct {
	p      *Proxy
	x      *exchange
	src    io.Reader
	skip   int64 // bytes still to leave out, for a range
	left   int64 // bytes still to send; -1: all
	part   bool  // a range: not to the end of the source
	whole  bool  // the origin's body was read to its end
	closes bool  // with trailers, if there are any
	closed atomic.Bool
}

// sizedBody has a known length and is read piece by piece: fasthttp sends each
// piece at once.
type sizedBody struct{ *body }

// chunkedBody has none, and writes each piece as one chunk.
type chunkedBody struct{ *body }

// stream sends the body of x's answer, or the part that cut leaves of it.
func (p *Proxy) stream(x *exchange, c cut) {
	b := &body{p: p, x: x, skip: c.first, left: c.length, part: c.status != 0}
	switch {
	case x.slices != nil:
		b.src, b.skip, b.part = x.slices, 0, true
	case x.reader != nil:
		b.src = x.reader
	default:
		b.src = x.response.Body
	}
	x.body, x.streaming = b, true
	x.firstByte = -1
	x.ctx.Response.ImmediateHeaderFlush = true
	if c.length >= 0 {
		x.ctx.Response.SetBodyStream(&sizedBody{b}, int(c.length))
		return
	}
	if !x.ctx.Request.Header.IsHTTP11() {
		p.untilClose(x, b)
		return
	}
	b.closes = p.takesTrailers(x)
	x.ctx.Response.SetBodyStream(&chunkedBody{b}, -1)
}

// Read gives the next piece of the body.
func (b *body) Read(p []byte) (n int, err error) {
	defer b.rescue(&err)
	for b.skip > 0 {
		n, err := b.src.Read(p[:min(int64(len(p)), b.skip)])
		b.skip -= int64(n)
		if err != nil {
			return 0, b.cutShort(err)
		}
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
	n, err = b.src.Read(p)
	b.sent(n)
	if err != nil {
		return n, b.ending(err)
	}
	return n, nil
}

// sent counts n bytes about to be written and gives the write its time.
func (b *body) sent(n int) {
	at := now()
	if b.x.firstByte < 0 {
		b.x.firstByte = at.Sub(b.x.start)
	}
	b.x.bytes += int64(n)
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.x.guest.Sent()
	if b.p.WriteIdle > 0 {
		_ = b.x.ctx.SetWriteDeadline(at.Add(b.p.WriteIdle))
	}
}

// ending passes the end of the source on; an end before the announced length is
// no end.
func (b *body) ending(err error) error {
	if errors.Is(err, io.EOF) {
		if b.left > 0 {
			return io.ErrUnexpectedEOF
		}
		b.whole = true
		return io.EOF
	}
	return b.cutShort(err)
}

// cutShort names a broken body; the client sees the connection close.
func (b *body) cutShort(err error) error {
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
	defer b.rescue(&err)
	switch {
	case b.x.slices != nil:
		_ = b.x.slices.Close()
	case b.x.reader != nil:
		_ = b.x.reader.Close()
	default:
		_ = b.x.response.Body.Close()
		b.p.ended(b.x, b.whole)
	}
	return nil
}

// SupportsBodyWriteTo lets fasthttp use WriteTo, which does all that Read does.
func (b *chunkedBody) SupportsBodyWriteTo() bool { return true }

// WriteTo writes each piece as it comes; a flight's pieces are not copied.
func (b *chunkedBody) WriteTo(w io.Writer) (n int64, err error) {
	defer b.rescue(&err)
	next := b.pieces()
	for {
		p, err := next()
		if len(p) > 0 {
			b.sent(len(p))
			m, werr := w.Write(p)
			n += int64(m)
			if werr != nil {
				return n, werr
			}
		}
		if err != nil {
			if err = b.ending(err); errors.Is(err, io.EOF) {
				addTrailers(&b.x.ctx.Response.Header, b.trailers())
				return n, nil
			}
			return n, err
		}
	}
}

func (b *chunkedBody) pieces() func() ([]byte, error) {
	if b.x.reader != nil {
		return b.x.reader.Next
	}
	buffer := make([]byte, streamBuffer)
	return func() ([]byte, error) {
		n, err := b.src.Read(buffer)
		return buffer[:n], err
	}
}

// slowestBytes is the rate, in bytes a second, below which a client loses a body
// that is sent in one write.
const slowestBytes = 16 << 10

// allowTimeFor gives the one write of a stored body time in proportion to its
// size, beyond what the server allows every answer.
func (p *Proxy) allowTimeFor(x *exchange, size int64) {
	if p.WriteIdle <= 0 || size <= 256<<10 {
		return
	}
	d := p.WriteIdle + time.Duration(size/slowestBytes)*time.Second
	_ = x.ctx.SetWriteDeadline(x.start.Add(d))
}

var _ fasthttp.BodyWriterTo = (*chunkedBody)(nil)
