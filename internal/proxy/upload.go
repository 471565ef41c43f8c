package proxy

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/running"
	"edgeproxy/internal/route/client"
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
	left        int64 // bytes that limits.body_bytes leaves
	idle        time.Duration
	meter       pace.Meter
	slow        *atomic.Int64              // counts those that ended for the pace
	ahead       []byte                     // read ahead and not taken yet
	buffer      *[]byte                    // ahead is in it; it is of a pool; nil without
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
		idle: x.settings.ReadIdleTimeout, meter: pace.NewMeter(x.settings.ReceiveRate), slow: &p.slowUploads,
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

// An upload is read ahead before it takes a connection to the origin, or a place in the queue
// for one: first all of the body has to be here, or Options.RequestBuffer bytes of it. So a
// client that sends slowly takes neither from others.

// smallUpload is the size of the first buffer of an upload. Many bodies fit into it.
const smallUpload = 4 << 10

// uploadShare is the share of Options.InflightBytes that uploads may take, apart from what
// responses take. So slow readers of responses cannot keep others from sending.
const uploadShare = 4

// uploadBuffers has buffers of two sizes, smallUpload and Options.RequestBuffer. The large ones
// have a budget.
type uploadBuffers struct {
	size         int // the size of a large one; 0 is no reading ahead
	budget       *flight.Budget
	small, large sync.Pool
}

func newUploadBuffers(size, inflight int64, share client.Part) *uploadBuffers {
	b := &uploadBuffers{size: int(size), budget: flight.NewBudget(max(inflight/uploadShare, size), share)}
	b.small.New = func() any { return pooled(min(smallUpload, b.size)) }
	b.large.New = func() any { return pooled(b.size) }
	return b
}

func pooled(size int) *[]byte {
	buffer := make([]byte, 0, size)
	return &buffer
}

// grow returns a large buffer. It counts as taken by client c.
func (b *uploadBuffers) grow(c netip.Prefix) (*[]byte, error) {
	if err := b.budget.Take(int64(b.size), c); err != nil {
		return nil, err
	}
	return b.large.Get().(*[]byte), nil
}

// put takes back a buffer of client c that nobody reads any more.
func (b *uploadBuffers) put(buffer *[]byte, c netip.Prefix) {
	if cap(*buffer) == b.size && b.size > smallUpload {
		b.budget.Give(int64(b.size), c)
		b.large.Put(buffer)
		return
	}
	b.small.Put(buffer)
}

// readAhead reads the beginning of x's body, if it has one. It reports whether the origin may be
// asked; if not, x has its answer.
func (p *Proxy) readAhead(x *exchange) bool {
	u := x.upload
	if u == nil || p.uploads.size == 0 {
		return true
	}
	u.client = x.who
	x.run.Enter(running.RequestBody)
	err := u.readAhead(p.uploads)
	if err == nil {
		x.run.Enter(running.Origin)
		return true
	}
	status, why := uploadFailure(err)
	switch {
	case errors.Is(err, flight.ErrShare):
		p.Metrics.overMemoryShare.note()
		status, why = statusTooManyRequests, reason.ClientShare
	case errors.Is(err, flight.ErrNoRoom):
		p.Metrics.overMemory.note()
		status, why = statusServiceUnavailable, reason.Overload
	}
	p.refuse(x, status, why)
	p.logFailure(x, slog.LevelDebug, status, why, "", err)
	return false
}

// readAhead fills u.ahead with all of the body, or as much as there is room for.
func (u *upload) readAhead(from *uploadBuffers) error {
	u.buffer = from.small.Get().(*[]byte)
	for {
		b := (*u.buffer)[:cap(*u.buffer)]
		n, err := u.receive(b[len(u.ahead):])
		u.ahead = b[:len(u.ahead)+n]
		switch {
		case errors.Is(err, io.EOF):
			if u.length >= 0 && int64(len(u.ahead)) < u.length {
				u.whole = false
				return io.ErrUnexpectedEOF
			}
			u.complete = true
			return nil
		case err != nil:
			return err
		case len(u.ahead) == from.size:
			return nil
		case len(u.ahead) == len(b):
			large, err := from.grow(u.client)
			if err != nil {
				return err
			}
			copy((*large)[:len(u.ahead)], u.ahead)
			u.ahead = (*large)[:len(u.ahead)]
			from.put(u.buffer, u.client)
			u.buffer = large
		}
	}
}

// here returns all of the body, where that was read ahead and is small enough to leave with the head; else
// nil. It is good until release.
func (u *upload) here() []byte {
	if u == nil || !u.complete || len(u.ahead) == 0 || int64(len(u.ahead)) != u.length || len(u.ahead) > origin.MaxWhole {
		return nil
	}
	return u.ahead
}

// release gives the buffer back. Nobody may read u after that.
func (u *upload) release(to *uploadBuffers) {
	if u != nil && u.buffer != nil {
		to.put(u.buffer, u.client)
		u.ahead, u.buffer = nil, nil
	}
}

// bodiesOnTheirWay returns the bytes of memory reserved for bodies, either way.
func (p *Proxy) bodiesOnTheirWay() int64 { return p.budget.Used() + p.uploads.budget.Used() }
