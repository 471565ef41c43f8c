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
	s            *Server
	nc           net.Conn   // the connection that was accepted
	raw          net.Conn   // the same, under TLS
	peer         netip.Addr // stands for the connection's own address where told
	told         bool
	stateChanges atomic.Int64 // changes of state that State has not been told of

	reader       reader // belongs to the goroutine that reads
	wake         chan struct{}
	ended        chan struct{} // closed when the writer has ended
	writes       atomic.Uint64 // odd while one is under way
	unpaidFrames atomic.Int64  // frames of content that were written, and that the reader has not counted yet
	contentSent  atomic.Int64  // bytes of content that were written
	ending       []*stream     // the writer's
	sweep        sweepState    // the sweeper's

	mu            sync.Mutex
	streams       map[uint32]*stream // neither reset nor answered
	working       int                // requests that were begun and have not ended
	lastID        uint32             // number of the newest stream
	recent        recent
	hasRequest    bool // a request has come
	inHeader      bool // a header has begun that goes on for more than a frame
	headers       int  // counts their beginnings and ends
	settingsAcked bool // the client knows our settings
	active        bool // what State was told

	out         outgoing
	in          receiveWindow
	leaving     stage
	dead        bool // nothing is read or written any more
	spare       []*stream
	updates     map[uint32]priority // priorities of streams that have not begun
	prioritizes bool                // the client sends priorities
}

// stage says how far the graceful shutdown of a connection has come (RFC 9113 section 6.8).
type stage uint8

const (
	staying      stage = iota
	goAwayWarned       // the first GOAWAY was sent; the client may still open streams
	goAwayFinal        // the last GOAWAY was sent, which names the last stream
)

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		s: s, nc: nc, raw: nc, wake: make(chan struct{}, 1), ended: make(chan struct{}),
		streams: map[uint32]*stream{},
	}
	if t, ok := nc.(*tls.Conn); ok {
		c.raw = t.NetConn()
	}
	if s.o.Peer != nil {
		c.peer, c.told = s.o.Peer(nc)
	}
	c.out.init(s.block)
	c.in = receiveWindow{window: connWindow}
	c.reader.init(c)
	return c
}

// refuse closes a connection that came after the Server stopped accepting. State is told New and Closed.
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
		c.s.o.Log.Debug("HTTP/2 connection closed", "client", c.nc.RemoteAddr().String(), "error", err)
		c.finishAll(c.endAll(func() {
			c.out.goAway(c.lastID, xhttp2.ErrCode(protocol))
			c.leaving = goAwayFinal
		}))
		c.signal()
		// Closing with bytes unread would reset the connection, and GOAWAY might be lost.
		_ = c.nc.SetReadDeadline(now().Add(lingering))
		_, _ = io.Copy(io.Discard, c.nc)
	}
	c.close()
	over := c.endAll(func() { c.dead = true })
	c.signal()
	c.finishAll(over)
	<-c.ended
	c.settle()
	c.reportState()
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
		s.notifyLeave()
	}
}

// close closes the connection, over TLS with its closure alert if the client is to know that nothing follows.
func (c *conn) close() {
	c.mu.Lock()
	orderly := c.leaving == goAwayFinal
	c.mu.Unlock()
	if orderly {
		_ = c.nc.Close()
	}
	c.kill()
}

// kill closes the connection without a wait, so that its goroutines end.
func (c *conn) kill() { _ = c.raw.Close() }

// signal makes the writer look for something to write.
func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// reportState tells State whether a request is under way, if that has changed. Calls of State never overlap:
// during one, another goroutine only leaves a note, and the first calls State again.
func (c *conn) reportState() {
	if c.stateChanges.Add(1) != 1 {
		return
	}
	for {
		n := c.stateChanges.Load()
		c.mu.Lock()
		active := len(c.streams) > 0
		changed := active != c.active
		c.active = active
		c.mu.Unlock()
		if changed {
			c.state(activity(active))
		}
		if c.stateChanges.CompareAndSwap(n, 0) {
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

// shutdown asks the client to open no more streams. Streams that it opens before it knows of that are
// answered: see RFC 9113 section 6.8.
func (c *conn) shutdown() {
	c.mu.Lock()
	if c.leaving == staying {
		c.leaving = goAwayWarned
		c.out.goAway(1<<31-1, xhttp2.ErrCodeNo)
		c.out.ping(goAwayPing)
	}
	c.mu.Unlock()
	c.signal()
}

// goAwayPing is the PING after the first GOAWAY. Its answer says that the client has that GOAWAY.
var goAwayPing = [8]byte{'l', 'e', 'a', 'v', 'i', 'n', 'g'}

// closeLocked tells the client which stream is the last. The writer ends the connection when
// the streams have.
func (c *conn) closeLocked() {
	if c.leaving != goAwayFinal {
		c.leaving = goAwayFinal
		c.out.goAway(c.lastID, xhttp2.ErrCodeNo)
	}
}

// source reads the connection. Before a read that may wait, it makes the writer write what is ready.
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
