package listen

import (
	"crypto/tls"
	"os"
	"sync/atomic"
	"time"
)

// deadlineConn is a connection under TLS whose Read keeps to its deadline, as one without TLS
// does, also where the client has taken leave. TLS would go on telling of the end, and
// nobody could ask, by a deadline that has passed, whether there is something to wait for:
// internal/proxy does, to know a body that has ended from one that was cut off.
type deadlineConn struct {
	*tls.Conn
	until atomic.Int64 // time since begun, in nanoseconds; 0: no deadline
}

// begun is what deadlines are counted from. A deadline is a time of the monotonic clock, as those
// of package net are: the other one may be set while a deadline is kept.
var begun = time.Now()

// SetDeadline implements net.Conn.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *deadlineConn) keep(t time.Time) {
	until := int64(0)
	if !t.IsZero() {
		until = int64(t.Sub(begun)) // before begun it has passed
	}
	c.until.Store(until)
}

// Read implements net.Conn.
func (c *deadlineConn) Read(p []byte) (int, error) {
	if until := c.until.Load(); until != 0 && int64(time.Since(begun)) >= until {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(p)
}
