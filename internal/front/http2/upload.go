package http2

import (
	"io"
	"os"

	"edgeproxy/internal/http/field"
)

// upload is the content of a request that is being received. The window of its stream bounds the bytes that
// are here and not read. It implements message.Body.
type upload struct {
	s         *stream
	length    int64 // announced; -1: it was not
	announced []string

	// The connection's mutex guards what follows.
	came     int64
	unread   []byte
	off      int // offset in unread
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
		u.resetBufLocked()
	}
	if c.in.give(int64(n), connWindow) {
		c.signal()
	}
	if !s.halfClosed && !s.done && s.in.give(int64(n), streamWindow) {
		c.out.queueFrames(s)
		c.signal()
	}
	return n, nil
}

// resetBufLocked empties the buffer, if all that came was read.
func (u *upload) resetBufLocked() {
	u.unread, u.off = u.unread[:0], 0
	if u.ended {
		u.unread = nil
	}
}

// freeUnusedLocked drops memory that is not in use. One client has many streams, each of which may wait
// for long: for the origin, or for more of its content.
func (u *upload) freeUnusedLocked() {
	if len(u.unread) == u.off && cap(u.unread) > mostEmpty {
		u.unread, u.off = nil, 0
	}
}

// overLocked returns why no more will come; nil: more may come.
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

// addLocked adds content that has come. It reports whether that is valid: no more than was
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

// dropLocked drops the content that nobody will read, and returns how many bytes that was. A stream that has
// ended keeps none.
func (u *upload) dropLocked() int64 {
	n := len(u.unread) - u.off
	u.unread, u.off = nil, 0
	u.dropped = u.dropped || n > 0
	return int64(n)
}

// giveLocked gives n bytes back to the receive window of the connection.
func (c *conn) giveLocked(n int64) {
	if n > 0 && c.in.give(n, connWindow) {
		c.signal()
	}
}
