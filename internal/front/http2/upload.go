package http2

import (
	"io"
	"os"

	"edgeproxy/internal/field"
)

// upload is the content of a request on its way. The window of its stream bounds what nobody
// has read. It implements message.Body.
type upload struct {
	s         *stream
	length    int64 // announced; -1: it was not
	announced []string

	// The connection's mutex guards what follows.
	came     int64
	unread   []byte
	off      int // of unread
	ended    bool
	dropped  bool // some of it, which nobody can read any more
	trailers field.List
}

// Length implements message.Body.
func (u *upload) Length() int64 { return u.length }

// Announced implements message.Body.
func (u *upload) Announced() []string { return u.announced }

// Trailers implements message.Body.
func (u *upload) Trailers() (field.List, error) {
	u.s.c.mu.Lock()
	defer u.s.c.mu.Unlock()
	return u.trailers, nil
}

// Read implements message.Body. It waits until something is here, up to the read deadline of
// the stream.
func (u *upload) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s, c := u.s, u.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(u.unread) == u.off {
		if err := u.overLocked(); err != nil {
			return 0, err
		}
		s.cond.Wait()
	}
	n := copy(p, u.unread[u.off:])
	if u.off += n; u.off == len(u.unread) {
		u.emptyLocked()
	}
	if c.in.give(int64(n), connWindow) {
		c.signal()
	}
	if !s.half && !s.done && s.in.give(int64(n), streamWindow) {
		c.out.due(s)
		c.signal()
	}
	return n, nil
}

// emptyLocked begins to keep anew, where all that came was read.
func (u *upload) emptyLocked() {
	u.unread, u.off = u.unread[:0], 0
	if u.ended {
		u.unread = nil
	}
}

// lookLocked lets go of room that is not in use. One client has many streams, each of which may wait
// for long: for the origin, or for more of its content.
func (u *upload) lookLocked() {
	if len(u.unread) == u.off && cap(u.unread) > mostEmpty {
		u.unread, u.off = nil, 0
	}
}

// overLocked says why nothing more is to be waited for; nil: something is.
func (u *upload) overLocked() error {
	switch s := u.s; {
	case s.err != nil:
		return s.err
	case u.ended && !u.dropped:
		return io.EOF
	case s.done:
		return errClosed
	case s.readBy.passed:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// addLocked takes what has come, and reports whether that is all right: no more than was
// announced, and no less at the end.
func (u *upload) addLocked(p []byte, end bool) bool {
	u.came += int64(len(p))
	if u.length >= 0 && (u.came > u.length || end && u.came < u.length) {
		return false
	}
	if u.off > 0 && len(u.unread)+len(p) > cap(u.unread) {
		u.unread = u.unread[:copy(u.unread, u.unread[u.off:])]
		u.off = 0
	}
	u.unread = append(u.unread, p...)
	u.ended = end
	u.s.cond.Broadcast()
	return true
}

// dropLocked lets go of what nobody will read, and returns how much that is. A stream that has
// ended keeps nothing.
func (u *upload) dropLocked() int64 {
	n := len(u.unread) - u.off
	u.unread, u.off = nil, 0
	u.dropped = u.dropped || n > 0
	return int64(n)
}

// giveLocked lets the client send so much more, on the whole connection.
func (c *conn) giveLocked(n int64) {
	if n > 0 && c.in.give(n, connWindow) {
		c.signal()
	}
}
