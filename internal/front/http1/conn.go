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
// request. So that deadline is not moved while it is early enough. If it passes before the deadline of
// the read, it is moved and the read goes on.
type conn struct {
	net.Conn       // the client's
	server         *Server
	place          Place // nil: Options.State hears of its requests
	pending        *turn // its answer is sent in place of the next bytes from fasthttp; nil: none
	withoutTLS     bool  // the client speaks without TLS where it has to
	headTimeUnset  bool  // a request has begun, but the timeout of its head was not set yet, and its handler has not begun
	toFasthttp     bool  // fasthttp serves it from now on
	activeReported bool  // State was told that fasthttp's first request has begun
	writeSet       bool  // the engine has set a deadline for writing
	unread         bool  // the request of the answer before was not read whole

	awaiter  *awaiter // nil: what is below is no socket
	sender   *sender  // nil: no file was sent yet
	files    bool     // they can be sent
	buf      *[]byte  // nil: nothing is in it
	from, to int      // buf[from:to] has come and was not read yet
	start    int      // buf[start:to] is what has come of the head that fasthttp reads; see note
	came     int64    // how much of it has come, which may be more
	skip     int64    // bytes of a body that come before the next head
	lost     bool     // where the next head begins is not known
	chunks   *chunks  // follows the chunked body of the last request; nil: none has come
	resumed  bool     // the next request of fasthttp is the one that Expect was asked about
	failed   error    // error of the last read into buf

	phase      atomic.Int32 // waiting, working or closed
	hasRequest atomic.Bool  // a request has come
	acceptedAt int64        // seconds of Server.clock

	// Times of Server.at. socketDeadline is never later than deadline, except while setDeadline runs.
	deadline       atomic.Int64 // when reads end; never: they do not
	socketDeadline atomic.Int64 // when reads of the connection below end

	deadlineMu sync.Mutex // held to change socketDeadline
}

// never is a time that does not come.
const never = math.MaxInt64

// newConn returns c as a connection of s. Its first byte has to come within HeaderTimeout.
func (s *Server) newConn(c net.Conn) *conn {
	own := &conn{Conn: c, server: s, acceptedAt: s.clock()}
	_, own.withoutTLS = c.(interface{ WithoutTLS() })
	own.deadline.Store(never)
	own.socketDeadline.Store(never)
	own.setTimeout(s.o.HeaderTimeout)
	return own
}

// NetConn returns the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// idle returns how long a connection may be without a request.
func (s *Server) idle() time.Duration {
	if s.o.KeepaliveTimeout > 0 {
		return s.o.KeepaliveTimeout
	}
	return s.o.HeaderTimeout
}

// readBelow reads from the connection below, as long as there is time.
func (c *conn) readBelow(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if n > 0 || !c.retryRead(err) {
			return n, err //nolint:wrapcheck // fasthttp looks at it
		}
	}
}

// retryRead reports whether to read again after this error, because there is time left.
func (c *conn) retryRead(err error) bool {
	return err != nil && errors.Is(err, os.ErrDeadlineExceeded) && c.extendDeadline()
}

// takeBack puts behind in front of what has come and was not read yet. It was read from c, last of all, and no request uses the
// buffer any more.
func (c *conn) takeBack(behind []byte) {
	switch {
	case len(behind) == 0:
	case c.from < c.to: // all of behind is from the buffer, and still there
		c.from -= len(behind)
	default:
		c.from, c.to = 0, copy(*c.buf, behind)
	}
}

// bodyFollows is called when the request received at this time has a body. Until the body has a deadline
// of its own, HeaderTimeout bounds it.
func (c *conn) bodyFollows(received time.Time) {
	if d := c.server.o.HeaderTimeout; d > 0 {
		_ = c.setDeadline(c.server.at(received.Add(d)))
	}
}

// setTimeout makes reads end in d; 0 is never. If that fails, the connection is closed, and reads end anyway.
func (c *conn) setTimeout(d time.Duration) {
	at := int64(never)
	if d > 0 {
		at = c.server.clock() + int64(d)
	}
	_ = c.setDeadline(at)
}

// setDeadline makes reads end at this time. Of two concurrent calls the last one counts, as with any net.Conn.
func (c *conn) setDeadline(at int64) error {
	if armed := c.socketDeadline.Load(); armed <= at && at != never {
		c.deadline.Store(at)
		if c.socketDeadline.Load() == armed {
			return nil // a concurrent moveDeadline sets deadline later; a concurrent extendDeadline reads it again
		}
	}
	return c.moveDeadline(at, c.Conn.SetReadDeadline)
}

// moveDeadline is setDeadline that always moves the deadline of the connection below, by set.
func (c *conn) moveDeadline(at int64, set func(time.Time) error) error {
	c.deadlineMu.Lock()
	defer c.deadlineMu.Unlock()
	c.socketDeadline.Store(at)
	err := set(c.server.time(at))
	c.deadline.Store(at)
	return err
}

// extendDeadline reports whether reads have time left although the deadline of the connection below has
// passed. Then it moves that deadline.
func (c *conn) extendDeadline() bool {
	c.deadlineMu.Lock()
	defer c.deadlineMu.Unlock()
	until := c.deadline.Load()
	if until == c.socketDeadline.Load() || until <= c.server.clock() {
		return false
	}
	for {
		c.socketDeadline.Store(until)
		if c.Conn.SetReadDeadline(c.server.time(until)) != nil {
			return false
		}
		earlier := c.deadline.Load()
		if earlier >= until {
			return true
		}
		until = earlier // a concurrent setDeadline saw the old deadline below, and did not move it
	}
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadline(c.server.at(t)) }

// SetDeadline implements net.Conn. fasthttp calls it where it hands a connection over.
func (c *conn) SetDeadline(t time.Time) error {
	return c.moveDeadline(c.server.at(t), c.Conn.SetDeadline)
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	t := c.pending
	if t == nil {
		return c.Conn.Write(p) //nolint:wrapcheck // fasthttp looks at it
	}
	c.pending = nil
	return len(p), t.write(c.Conn, p[bytes.IndexByte(p, '\n')+1:])
}

// ReadFrom implements io.ReaderFrom, by which fasthttp sends each piece of a body at once.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r) //nolint:wrapcheck // fasthttp looks at it
	}
	b := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{r}, b[:]) //nolint:wrapcheck // fasthttp looks at it
}

// copyBuffer is the size of a record of TLS.
const copyBuffer = 16 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}
