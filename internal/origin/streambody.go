package origin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"edgeproxy/internal/http/field"
)

// streamBody is the response body of a stream.
type streamBody struct {
	origin    *Origin
	c         *h2Conn
	client    netip.Prefix // who holds the slot
	src       io.ReadCloser
	response  *http.Response // gets the trailers
	idle      time.Duration
	end       time.Time // when the exchange has to be over; zero: any time
	waitLimit waitLimit
	ctx       context.Context //nolint:containedctx // context of the stream; its cause says why it has ended
	left      int64           // bytes left of the length that the header says; below 0: it says none
	stopped   bool            // the request was not sent whole
	trailers  field.List
}

// streamAnswer is a response by HTTP/2 and what belongs to it, in one piece of memory.
type streamAnswer struct {
	Response
	body   Body
	stream streamBody
}

// answered returns the response of s, to whose Body the stream belongs from then on.
func (s *stream) answered(h *head, f framing, connect time.Duration) *Response {
	now := time.Now()
	s.c.used.Store(true)
	s.origin.metrics.waited(now.Sub(s.begun))
	a := &streamAnswer{Response: Response{
		Status: h.status, Header: h.fields, ContentLength: f.length,
		RequestTime: s.begun, ResponseTime: now, FirstByteTime: now, Server: s.c.server.Address, Connect: connect,
	}}
	a.stream = streamBody{
		origin: s.origin, c: s.c, client: s.r.Client, src: s.res.Body, response: s.res, idle: s.idle, end: s.r.deadline(),
		waitLimit: waitLimit{cancel: s.cancel, socket: s.c.socket}, ctx: s.ctx, left: f.length, stopped: !s.sent.whole,
	}
	trace := s.r.Trace.answered(s.c.server, h.status, s.begun, now)
	a.body = Body{origin: s.origin, stream: &a.stream, src: &a.stream, status: h.status, framed: true, begun: s.begun, trace: trace}
	a.Body = &a.body
	if f.end == byNothing {
		_ = a.body.end(io.EOF)
	}
	return &a.Response
}

// Read returns io.EOF, together with the last bytes, only if the origin has ended the stream after as many bytes as it
// has announced.
func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.read(p)
	for n > 0 && b.left == 0 && err == nil {
		var more [1]byte
		_, err = b.read(more[:]) // the end, or too much
	}
	if err != io.EOF { //nolint:errorlint // an error that wraps it is no end
		return n, err
	}
	if b.left > 0 {
		return n, io.ErrUnexpectedEOF
	}
	if b.trailers, err = trailersOf(b.response.Trailer); err != nil {
		return n, err
	}
	return n, io.EOF
}

// read waits for the origin once.
func (b *streamBody) read(p []byte) (int, error) {
	limit := b.idle
	if !b.end.IsZero() {
		if limit = min(limit, time.Until(b.end)); limit <= 0 {
			return 0, ErrTotal
		}
	}
	b.waitLimit.begin(limit)
	n, err := b.src.Read(p)
	b.waitLimit.end()
	if b.left >= 0 {
		if int64(n) > b.left {
			return 0, malformed("body longer than its Content-Length of %d bytes", b.response.ContentLength)
		}
		b.left -= int64(n)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	switch cause := context.Cause(b.ctx); {
	case cause == nil:
		return n, classifyStreamError(err)
	case !b.end.IsZero() && !time.Now().Before(b.end):
		return n, ErrTotal
	default:
		return n, cause
	}
}

// over ends the stream and frees its slot. If the origin has not ended the stream, the library sends RST_STREAM.
func (b *streamBody) over(err error) {
	if e, ok := errors.AsType[*Error](err); ok && stepTimedOut(e) {
		b.c.server.h2.drop(b.c)
	}
	if b.stopped {
		b.waitLimit.cancel(ErrBodyClosed) // first: the library waits for a request that was not sent whole
	}
	if err == io.EOF { //nolint:errorlint // an error that wraps it is no end
		b.waitLimit.begin(stuckFor)
		_ = b.src.Close()
	} else {
		b.waitLimit.end()
		b.origin.close(b.src)
	}
	b.waitLimit.close()
	b.waitLimit.cancel(ErrBodyClosed)
	b.c.done()
	b.origin.pool.free(b.c.server, b.client)
}

// close closes a body of the library that has not ended. Closing writes a frame, so close waits for it at most stuckFor.
func (o *Origin) close(body io.Closer) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		o.options.Panics.Quietly(func() { _ = body.Close() })
	}()
	late := time.NewTimer(stuckFor)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}
