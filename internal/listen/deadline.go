package listen

import (
	"crypto/tls"
	"os"
	"sync/atomic"
	"time"
)

// deadlineConn is a connection of TLS whose Read keeps its deadline, as one without TLS does, also
// after the client has closed its side. tls.Conn would return io.EOF again and ignore a deadline that
// has passed. internal/front/http1 sets such a deadline, to tell a body that has ended from one that
// was cut off.
type deadlineConn struct {
	*tls.Conn
	until atomic.Int64 // time since begun, in nanoseconds; 0: no deadline
}

// begun is the time that deadlines are counted from. A deadline is a time of the monotonic clock, as those
// of package net are, because the wall clock may be set meanwhile.
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
