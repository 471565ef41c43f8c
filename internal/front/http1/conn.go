package http1

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a connection of a client with the deadlines of its reads and a buffer for heads. It belongs
// to the goroutine that serves it; SetReadDeadline may be called by any.
//
// A deadline of the connection below is a timer, and moving one costs more than reading a
// request. So that deadline stays where it is as long as it is not too late: when it has come,
// and a read still has time, it is moved, and the read goes on. What waits ends when it has to.
type conn struct {
	net.Conn // the client's
	server   *Server
	place    Place // nil: Options.State hears of its requests
	instead  *turn // whose answer is sent in place of the next bytes from fasthttp; nil: none
	plain    bool  // the client speaks without TLS where it has to
	fresh    bool  // a request has begun, and neither the time of its head nor its handler has
	yielded  bool  // fasthttp has it from now on
	told     bool  // and need not say that its first request has begun
	writeSet bool  // the engine has set a deadline for writing

	awaiter  *awaiter // nil: what is below is no socket
	sender   *sender  // nil: no file was sent yet
	files    bool     // they can be sent
	buf      *[]byte  // nil: nothing is in it
	from, to int      // in buf, what has come and was not read yet
	failed   error    // of the last read into buf

	phase atomic.Int32 // waiting, working or closed
	spoke atomic.Bool  // a request has come
	came  int64        // by Server.clock

	// Times of Server.at. armed is never later than until, but while limit is under way.
	until atomic.Int64 // when reads end; never is without an end
	armed atomic.Int64 // when those of the connection below do

	arming sync.Mutex // held to change armed
}

// never is a time that does not come.
const never = math.MaxInt64

// own returns c as a connection of s, which has the time of a head for its first byte.
func (s *Server) own(c net.Conn) *conn {
	own := &conn{Conn: c, server: s, came: s.clock()}
	_, own.plain = c.(interface{ WithoutTLS() })
	own.until.Store(never)
	own.armed.Store(never)
	own.allow(s.o.HeaderTimeout)
	return own
}

// NetConn returns the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// idle is for how long a connection may be without a request.
func (s *Server) idle() time.Duration {
	if s.o.Idle > 0 {
		return s.o.Idle
	}
	return s.o.HeaderTimeout
}

// readBelow reads from the connection below, as long as there is time.
func (c *conn) readBelow(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if n > 0 || !c.again(err) {
			return n, err //nolint:wrapcheck // fasthttp looks at it
		}
	}
}

// again reports whether to read again after this error: there is time left.
func (c *conn) again(err error) bool {
	return err != nil && errors.Is(err, os.ErrDeadlineExceeded) && c.extend()
}

// body is told that the request received at this time has a body. Until that has a deadline of
// its own it has the time of a head.
func (c *conn) body(received time.Time) {
	if d := c.server.o.HeaderTimeout; d > 0 {
		_ = c.limit(c.server.at(received.Add(d)))
	}
}

// allow has reads end in d; 0 is never. Where that fails the connection is closed, and so do they.
func (c *conn) allow(d time.Duration) {
	at := int64(never)
	if d > 0 {
		at = c.server.clock() + int64(d)
	}
	_ = c.limit(at)
}

// limit has reads end at this time. Of two limits at once one is the last, as with any net.Conn.
func (c *conn) limit(at int64) error {
	if armed := c.armed.Load(); armed <= at && at != never {
		c.until.Store(at)
		if c.armed.Load() == armed {
			return nil // what changes armed now changes until later (move), or looks at it again (extend)
		}
	}
	return c.move(at, c.Conn.SetReadDeadline)
}

// move is limit where the deadline below is moved in any case, by set.
func (c *conn) move(at int64, set func(time.Time) error) error {
	c.arming.Lock()
	defer c.arming.Unlock()
	c.armed.Store(at)
	err := set(c.server.time(at))
	c.until.Store(at)
	return err
}

// extend reports whether reads have time left although the deadline below has come, and moves it.
func (c *conn) extend() bool {
	c.arming.Lock()
	defer c.arming.Unlock()
	until := c.until.Load()
	if until == c.armed.Load() || until <= c.server.clock() {
		return false
	}
	for {
		c.armed.Store(until)
		if c.Conn.SetReadDeadline(c.server.time(until)) != nil {
			return false
		}
		earlier := c.until.Load()
		if earlier >= until {
			return true
		}
		until = earlier // limit saw the deadline of before, and left it to this one
	}
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.limit(c.server.at(t)) }

// SetDeadline implements net.Conn. fasthttp calls it where it hands a connection over.
func (c *conn) SetDeadline(t time.Time) error { return c.move(c.server.at(t), c.Conn.SetDeadline) }

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	t := c.instead
	if t == nil {
		return c.Conn.Write(p) //nolint:wrapcheck // fasthttp looks at it
	}
	c.instead = nil
	return len(p), t.write(c.Conn, p[bytes.IndexByte(p, '\n')+1:])
}

// ReadFrom implements io.ReaderFrom, by which fasthttp sends each piece of a body at once.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r) //nolint:wrapcheck // fasthttp looks at it
	}
	b := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{r}, b[:]) //nolint:wrapcheck // as above
}

// copyBuffer is the size of a record of TLS.
const copyBuffer = 16 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}
