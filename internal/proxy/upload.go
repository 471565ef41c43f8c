package proxy

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
)

// These end the reading of a request body that is longer than limits.body_bytes, that
// stopped coming, or whose trailers are more than limits.header_count, or malformed.
var (
	errBodyTooLarge = errors.New("request body is larger than limits.body_bytes")
	errBodyIdle     = errors.New("request body stopped arriving")
	errManyTrailers = errors.New("request has more trailer fields than limits.header_count")
	errTrailer      = errors.New("malformed trailer field in the request")
)

// upload is a request body on its way to the origin: each read has its own
// deadline, and the whole has a limit, which fasthttp does not keep for streams.
type upload struct {
	ctx         *fasthttp.RequestCtx
	src         io.Reader
	left        int64
	idle        time.Duration
	chunked     bool
	section     func() (field.List, error) // copies the trailers once all was read
	trailers    field.List
	interrupted atomic.Bool
	begun       bool // it was asked for
	whole       bool // and read to its end
	err         error
}

// ownBody gives r the body of x's request.
func (p *Proxy) ownBody(x *exchange, r *origin.Request) {
	if !x.asks.body {
		return
	}
	src := x.ctx.RequestBodyStream()
	if src == nil {
		return
	}
	x.upload = &upload{ctx: x.ctx, src: src, left: p.BodyBytes, idle: p.ReadIdle}
	r.Body, r.ContentLength = x.upload, int64(x.ctx.Request.Header.ContentLength())
	if r.ContentLength < 0 {
		x.upload.chunked = true
		p.ownTrailers(x, r)
	}
	r.Interrupt = x.upload.interrupt
}

// Read is called by the origin room's goroutine, until RoundTrip returns.
func (u *upload) Read(b []byte) (int, error) {
	if u.interrupted.Load() {
		return 0, net.ErrClosed
	}
	u.begun = true
	_ = u.ctx.SetReadDeadline(now().Add(u.idle))
	if u.interrupted.Load() { // the deadline may just have undone the interruption
		_ = u.ctx.SetReadDeadline(time.Unix(1, 0))
	}
	n, err := u.src.Read(b)
	if u.left -= int64(n); u.left < 0 {
		u.err = errBodyTooLarge
		return 0, errBodyTooLarge
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		err = errBodyIdle
	}
	if u.chunked && errors.Is(err, io.EOF) {
		err = u.end()
	}
	u.whole = errors.Is(err, io.EOF)
	if err != nil && !u.whole {
		u.err = err
	}
	return n, err
}

// leftOff reports whether reading has ended before the body, because the origin had
// answered or failed: it may do so between two reads as well. It is for the time after
// RoundTrip.
func (u *upload) leftOff() bool { return u.interrupted.Load() || u.begun && !u.whole }

// end returns io.EOF, with the trailers in place, where all of a chunked body was read.
func (u *upload) end() (err error) {
	if !u.ended() {
		return io.ErrUnexpectedEOF
	}
	if u.trailers, err = u.section(); err != nil {
		return err
	}
	return io.EOF
}

// ended reports whether the end that src has told of is the last chunk. To fasthttp a
// client that leaves between two chunks has ended its body as well (RFC 9112 section 8),
// and nothing that it shows tells the two apart. But behind the last chunk it reads
// nothing more, and otherwise it tries to: then the deadline ends the reading. So the
// connection has to keep to a deadline also behind its end: see punctual in
// internal/listen, and conn in internal/bridge.
func (u *upload) ended() bool {
	_ = u.ctx.SetReadDeadline(time.Unix(1, 0))
	_, err := u.src.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// interrupt makes a Read that waits for the client return.
func (u *upload) interrupt() {
	u.interrupted.Store(true)
	_ = u.ctx.SetReadDeadline(time.Unix(1, 0))
}
