package proxy

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/origin"
)

// These errors end the reading of a request body: it is too long, has stopped coming, comes too
// slowly, or has too many trailers or a malformed one.
var (
	errBodyTooLarge = errors.New("request body is larger than limits.body_bytes")
	errBodyIdle     = errors.New("no byte of the request body arrived in time")
	errBodySlow     = errors.New("request body arrives below limits.receive_rate")
	errManyTrailers = errors.New("request has more trailer fields than limits.header_count")
	errTrailer      = errors.New("malformed trailer field in the request")
)

// upload is a request body on its way to the origin. Each read has a deadline, the client must
// send at a least pace, and the body may have only so many bytes. What was read ahead, before
// there was a connection to the origin, goes first.
type upload struct {
	src         message.Body
	deadlines   message.Deadlines
	length      int64 // -1: not known
	left        int64 // of limits.body_bytes
	idle        time.Duration
	meter       pace.Meter
	slow        *atomic.Int64              // counts those that ended for the pace
	ahead       []byte                     // read ahead and not taken yet
	buffer      *[]byte                    // that ahead is in, of a pool; nil without
	client      netip.Prefix               // whose that buffer is
	complete    bool                       // nothing is left of the body but ahead
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
	src := x.req.Body
	x.upload = &upload{
		src: src, deadlines: x.req.Deadlines, length: src.Length(), left: x.settings.BodyBytes,
		idle: x.settings.ReadIdle, meter: pace.NewMeter(x.settings.ReceiveRate), slow: &p.slowUploads,
	}
	r.Body, r.ContentLength = x.upload, x.upload.length
	if x.upload.length < 0 {
		p.ownTrailers(x, r)
	}
	r.Interrupt = x.upload.interrupt
}

// Read is called by the origin room's goroutine, until RoundTrip returns.
func (u *upload) Read(b []byte) (int, error) {
	switch {
	case u.interrupted.Load():
		return 0, net.ErrClosed
	case len(u.ahead) > 0:
		n := copy(b, u.ahead)
		if u.ahead = u.ahead[n:]; u.complete && len(u.ahead) == 0 {
			return n, io.EOF
		}
		return n, nil
	case u.complete:
		return 0, io.EOF
	}
	return u.receive(b)
}

// receive waits for the client.
func (u *upload) receive(b []byte) (int, error) {
	u.begun = true
	began := now()
	_ = u.deadlines.SetReadDeadline(began.Add(u.patience()))
	if u.interrupted.Load() { // the deadline may just have undone the interruption
		_ = u.deadlines.SetReadDeadline(time.Unix(1, 0))
	}
	n, err := u.src.Read(b)
	slow := u.meter.Add(n, now().Sub(began))
	if u.left -= int64(n); u.left < 0 {
		u.err = errBodyTooLarge
		return 0, errBodyTooLarge
	}
	var timeout net.Error
	switch {
	case slow && !errors.Is(err, io.EOF):
		err = errBodySlow
		u.slow.Add(1)
	case errors.As(err, &timeout) && timeout.Timeout():
		err = errBodyIdle
	case u.section != nil && err == io.EOF: //nolint:errorlint // an error that wraps it is no end
		if u.trailers, err = u.section(); err == nil {
			err = io.EOF
		}
	}
	u.whole = errors.Is(err, io.EOF)
	if err != nil && !u.whole {
		u.err = err
	}
	return n, err
}

// patience returns how long the next read may wait.
func (u *upload) patience() time.Duration {
	if left, ok := u.meter.Left(); ok {
		return min(u.idle, left)
	}
	return u.idle
}

// leftOff reports whether the reading ended before the body did, because the origin had answered
// or failed; that may happen between two reads. Call it after RoundTrip.
func (u *upload) leftOff() bool { return u.interrupted.Load() || u.begun && !u.whole }

// interrupt makes a Read that waits for the client return. Where all of the body is here no Read
// waits, and the client's connection stays usable.
func (u *upload) interrupt() {
	if u.complete {
		return
	}
	u.interrupted.Store(true)
	_ = u.deadlines.SetReadDeadline(time.Unix(1, 0))
}
