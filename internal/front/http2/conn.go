package http2

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	xhttp2 "golang.org/x/net/http2"
)

// conn is one connection. Its mutex guards what is below it, and the streams.
type conn struct {
	s     *Server
	nc    net.Conn   // as it was accepted
	under net.Conn   // the same, under TLS
	peer  netip.Addr // stands for the connection's own address where told
	told  bool
	turns atomic.Int64 // changes that State was not called for

	reader reader // belongs to the goroutine that reads
	wake   chan struct{}
	ended  chan struct{} // closed when the writer has ended
	writes atomic.Uint64 // odd while one is under way
	frames atomic.Int64  // of content that were written, and that reader has not paid for
	moved  atomic.Int64  // bytes of content that were
	ending []*stream     // the writer's
	sweep  sweep         // the sweeper's

	mu       sync.Mutex
	streams  map[uint32]*stream // neither reset nor answered
	working  int                // requests that were begun and have not ended
	lastID   uint32             // of the highest stream that was begun
	recent   recent
	asked    bool // a request has come
	inHeader bool // a header has begun that goes on for more than a frame
	headers  int  // beginnings and ends of such
	acked    bool // the client knows our settings
	active   bool // what State was told

	out     outgoing
	in      incoming
	leaving stage
	dead    bool // nothing is read or written any more
	spare   []*stream
	updates map[uint32]priority // of streams that have not begun
	aware   bool                // the client says which stream goes first
}

// stage is how far a connection has come in its end (RFC 9113 section 6.8).
type stage uint8

const (
	staying stage = iota
	warned        // it was told that it will end, and opens streams as before
	last          // it was told which stream is its last
)

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		s: s, nc: nc, under: nc, wake: make(chan struct{}, 1), ended: make(chan struct{}),
		streams: map[uint32]*stream{},
	}
	if t, ok := nc.(*tls.Conn); ok {
		c.under = t.NetConn()
	}
	if s.o.Peer != nil {
		c.peer, c.told = s.o.Peer(nc)
	}
	c.out.init(s.block)
	c.in = incoming{window: connWindow}
	c.reader.init(c)
	return c
}

// refuse closes a connection that came too late. It counts as one that came and went.
func (c *conn) refuse() {
	_ = c.nc.Close()
	c.state(New)
	c.state(Closed)
}

func (c *conn) state(s State) {
	if f := c.s.o.State; f != nil {
		f(c.nc, s)
	}
}

// serve serves the connection until its end.
func (c *conn) serve() {
	c.state(New)
	c.s.conns.Go(func() {
		defer close(c.ended)
		c.s.o.Panics.Quietly(c.write)
	})
	err := errors.New("panic")
	c.s.o.Panics.Quietly(func() { err = c.reader.run() })
	c.end(err)
}

// end ends the connection after err.
func (c *conn) end(err error) {
	if protocol, ok := errors.AsType[xhttp2.ConnectionError](err); ok {
		c.s.o.Log.Debug("connection of HTTP/2 is ended", "client", c.nc.RemoteAddr().String(), "error", err)
		c.finishAll(c.endAll(func() {
			c.out.goAway(c.lastID, xhttp2.ErrCode(protocol))
			c.leaving = last
		}))
		c.signal()
		// To close with something unread would reset the connection, and GOAWAY might be lost.
		_ = c.nc.SetReadDeadline(now().Add(lingering))
		_, _ = io.Copy(io.Discard, c.nc)
	}
	c.close()
	over := c.endAll(func() { c.dead = true })
	c.signal()
	c.finishAll(over)
	<-c.ended
	c.settle()
	c.tell()
	c.state(Closed)
}

// endAll ends all streams, whose client has left, and returns them. First it calls begin, under
// the mutex.
func (c *conn) endAll(begin func()) []*stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin()
	all := make([]*stream, 0, len(c.streams))
	for _, s := range c.streams {
		all = append(all, s)
	}
	for _, s := range all {
		s.endLocked(errGone)
	}
	return all
}

// finishAll does what is left to do for streams that were ended.
func (c *conn) finishAll(all []*stream) {
	for _, s := range all {
		s.left()
	}
}

// close closes the connection, in the way of TLS where the client is to know that nothing follows.
func (c *conn) close() {
	c.mu.Lock()
	orderly := c.leaving == last
	c.mu.Unlock()
	if orderly {
		_ = c.nc.Close()
	}
	c.kill()
}

// kill closes the connection, and waits for nobody. Its goroutines end then.
func (c *conn) kill() { _ = c.under.Close() }

// signal has the writer look for something to write.
func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// tell says whether a request is under way, if that has changed. Calls of State never overlap:
// who comes while one is under way leaves it to that one.
func (c *conn) tell() {
	if c.turns.Add(1) != 1 {
		return
	}
	for {
		n := c.turns.Load()
		c.mu.Lock()
		active := len(c.streams) > 0
		changed := active != c.active
		c.active = active
		c.mu.Unlock()
		if changed {
			c.state(activity(active))
		}
		if c.turns.CompareAndSwap(n, 0) {
			return
		}
	}
}

func activity(active bool) State {
	if active {
		return Active
	}
	return Idle
}

// shutdown has the client open no more streams. It may not have heard of it when it opens the
// next ones, so these are answered until it has: see RFC 9113 section 6.8.
func (c *conn) shutdown() {
	c.mu.Lock()
	if c.leaving == staying {
		c.leaving = warned
		c.out.goAway(1<<31-1, xhttp2.ErrCodeNo)
		c.out.ping(leavingPing)
	}
	c.mu.Unlock()
	c.signal()
}

// leavingPing is the PING whose answer says that the client knows of the end.
var leavingPing = [8]byte{'l', 'e', 'a', 'v', 'i', 'n', 'g'}

// closeLocked tells the client which stream is the last. The writer ends the connection when
// the streams have.
func (c *conn) closeLocked() {
	if c.leaving != last {
		c.leaving = last
		c.out.goAway(c.lastID, xhttp2.ErrCodeNo)
	}
}

// source has the writer write what is ready before the reader waits for more.
type source struct{ c *conn }

// Read implements io.Reader.
func (r source) Read(p []byte) (int, error) {
	r.c.mu.Lock()
	due := r.c.dueLocked()
	r.c.mu.Unlock()
	if due {
		r.c.signal()
	}
	return r.c.nc.Read(p)
}

func newBuffer(c *conn) *bufio.Reader { return bufio.NewReaderSize(source{c}, 4<<10) }
