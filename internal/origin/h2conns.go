package origin

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// h2Conns are the connections of HTTP/2 to one server. Each carries as many requests at a time as the server
// allows; another is made when all are full. Slots bound the requests, and with them the connections.
type h2Conns struct {
	origin    *Origin
	server    *server
	transport *http.Transport // speaks HTTP/2 on what is dialled here; it keeps and dials nothing

	mu      sync.Mutex
	conns   []*h2Conn     // connections that may get requests; never changed in place
	open    int           // all that are not closed
	making  chan struct{} // closed when the connection that is being made is there or has failed; nil: none is being made
	failure *Error        // failure of the last connection made; nil: it did not fail
	retired bool          // no connection is kept
	resting bool          // no connection that is made is kept for further requests
}

// h2Conn is one connection of HTTP/2.
type h2Conn struct {
	server   *server
	socket   net.Conn
	address  netip.Addr
	ends     time.Time // when it gets no more requests; zero: at no time
	wire     *http.ClientConn
	used     atomic.Bool // a response has come on it
	draining atomic.Bool // it gets no new requests, and is closed once it has none
	// requests under way. The library's own count also has those that were reset, until the server answers a ping.
	requests  atomic.Int32
	gone      sync.Once
	ready     chan struct{} // closed once it is known how many requests it takes, or that it takes none
	markReady func()        // closes ready
}

// get returns a connection on which it has reserved a place for one request, and whether the caller had to wait. limit
// bounds the wait; 0 means ConnectTimeout. If all connections are full, one request makes another, and the others wait
// until it is known how many requests that takes.
func (h *h2Conns) get(ctx context.Context, limit time.Duration) (c *h2Conn, waited bool, failure *Error) {
	c, busy, full := h.reserve()
	if c != nil {
		return c, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(limit, h.origin.options.ConnectTimeout))
	defer cancel()
	for ; c == nil; c, busy, full = h.reserve() {
		if busy == nil {
			if c, failure := h.makeOne(ctx, limited, full); c != nil || failure != nil {
				return c, true, failure
			}
			continue
		}
		select {
		case <-busy:
		case <-limited.Done():
			return nil, true, h.origin.connectError(ctx, limited.Err())
		}
		if failure := h.failed(); failure != nil {
			return nil, true, failure
		}
	}
	return c, true, nil
}

// reserve returns a connection on which it has reserved a place for one request. If there is none, busy is closed once there
// may be one; a nil busy says that no connection is being made. full are the connections that had no place.
func (h *h2Conns) reserve() (c *h2Conn, busy <-chan struct{}, full []*h2Conn) {
	if h.origin.options.MaxAge > 0 {
		h.endOver(time.Now())
	}
	h.mu.Lock()
	conns, making := h.conns, h.making
	h.mu.Unlock()
	busy = making
	for _, c := range conns {
		select {
		case <-c.ready:
			if c.reserve() {
				return c, nil, nil
			}
		default:
			busy = c.ready
		}
	}
	return nil, busy, conns
}

// failed returns the failure of the connection that was waited for, if every other attempt would fail in the same way.
func (h *h2Conns) failed() *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.failure; f != nil && f.Kind == Connect && !f.Timeout() {
		again := *f // the caller adds to it
		return &again
	}
	return nil
}

// makeOne makes a connection beside those that are full, and reserves its first place. It does nothing if another request is making
// one, or has made one meanwhile.
func (h *h2Conns) makeOne(ctx, limited context.Context, full []*h2Conn) (c *h2Conn, failure *Error) {
	h.mu.Lock()
	if h.making != nil || !slices.Equal(h.conns, full) {
		h.mu.Unlock()
		return nil, nil
	}
	done := make(chan struct{})
	h.making = done
	h.mu.Unlock()
	defer func() { h.dialed(c, failure, done) }() // also after a panic of the dialler
	made, err := h.dial(limited)
	if err == nil {
		if !made.reserve() {
			_ = made.wire.Close()
			err = errEndedAtOnce
		}
	}
	if err != nil {
		return nil, h.origin.connectError(ctx, err)
	}
	return made, nil
}

// dialed notes the new connection c, or the failure to make it, and wakes the requests that wait for it.
func (h *h2Conns) dialed(c *h2Conn, failure *Error, done chan struct{}) {
	h.mu.Lock()
	kept := !h.retired && !h.resting
	if h.making, h.failure = nil, failure; c != nil && kept {
		h.conns = append(slices.Clip(h.conns), c)
	}
	h.mu.Unlock()
	close(done)
	if c != nil && (!kept || c.wire.Err() != nil) {
		h.drop(c)
	}
}

// changed is called by the library when c may have ended. The library holds no lock of its own then.
func (h *h2Conns) changed(c *h2Conn) {
	if c.wire.Err() != nil {
		c.gone.Do(func() {
			h.forget(c)
			h.mu.Lock()
			h.open--
			h.mu.Unlock()
			h.origin.metrics.http2.Dec()
		})
	}
}

// reserve takes a place for one request, until done. It reports false if there is none.
func (c *h2Conn) reserve() bool {
	c.requests.Add(1)
	if c.wire.Reserve() == nil {
		return true
	}
	c.done()
	return false
}

// done gives the place of a request back.
func (c *h2Conn) done() {
	if c.requests.Add(-1) == 0 && c.draining.Load() {
		_ = c.wire.Close()
	}
}

// forget gives c no new requests.
func (h *h2Conns) forget(c *h2Conn) {
	defer c.markReady()
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.conns, c); i >= 0 {
		h.conns = slices.Delete(slices.Clone(h.conns), i, i+1)
	}
}

// drop gives c no new requests, and closes it once it has none.
func (h *h2Conns) drop(c *h2Conn) {
	h.forget(c)
	c.draining.Store(true)
	if c.requests.Load() == 0 {
		_ = c.wire.Close()
	}
	h.changed(c)
}

// rest gives the connections no new requests, and closes each one as soon as it has none, those that are being made included. With out false,
// connections are kept again.
func (h *h2Conns) rest(out bool) {
	h.mu.Lock()
	h.resting = out
	conns := h.conns
	h.mu.Unlock()
	if !out {
		return
	}
	for _, c := range conns {
		h.drop(c)
	}
}

// retire closes each connection as soon as it has no request.
func (h *h2Conns) retire() {
	h.mu.Lock()
	h.retired = true
	conns := h.conns
	h.mu.Unlock()
	for _, c := range conns {
		h.drop(c)
	}
}

// count returns how many connections there are.
func (h *h2Conns) count() int {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}
