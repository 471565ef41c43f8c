package proxy

import (
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"sync"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/running"
	"edgeproxy/internal/route/client"
)

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
	size         int // of a large one; 0 is no reading ahead
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
