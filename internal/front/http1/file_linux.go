package http1

import (
	"net"
	"syscall"

	"edgeproxy/internal/message"
	"edgeproxy/internal/nonblock"
)

// sender sends a head and a part of a file on a socket: the kernel sends the pages of the file as they
// are. Or it sends a head with all that is behind it, without a file. It belongs to a connection, and takes no memory
// for an answer.
type sender struct {
	raw syscall.RawConn
	try func(fd uintptr) (done bool) // s.send, made once

	head   []byte // what is left of it
	waits  bool   // the file lies on a disk: to send from it may wait
	file   int
	offset int64
	left   int64
}

// sendsFiles reports whether c can send from a file: it is a socket of TCP, and nothing else.
func (c *conn) sendsFiles() bool {
	_, tcp := c.Conn.(*net.TCPConn)
	return tcp && c.awaiter != nil
}

// sendFile writes head, and length bytes of f from offset on. waits says that f lies on a disk, and not in memory. It returns how many of these were
// sent. Where that is not all of them the file cannot be sent, or the connection is broken: to write the
// rest in another way tells which. headLeft was not sent then.
func (c *conn) sendFile(head []byte, f message.File, offset, length int64, waits bool) (sent int64, headLeft []byte) {
	s := c.aSender()
	s.file, s.offset, s.left, s.waits = f.Descriptor(), offset, length, waits
	headLeft = s.sendAll(head)
	return length - s.left, headLeft
}

// sendBytes writes b, by calls that the scheduler is not told of. Where it returns what is left of b the
// connection is broken: to write that in another way tells how.
func (c *conn) sendBytes(b []byte) (left []byte) {
	s := c.aSender()
	s.left = 0
	return s.sendAll(b)
}

func (c *conn) aSender() *sender {
	if c.sender == nil {
		s := &sender{raw: c.awaiter.raw}
		s.try = s.send
		c.sender = s
	}
	return c.sender
}

// sendAll sends head, and what was set of a file. It returns what is left of head.
func (s *sender) sendAll(head []byte) (left []byte) {
	s.head = head
	_ = s.raw.Write(s.try) // so does the next write fail
	left, s.head = s.head, nil
	return left
}

// readFile reads from f.
func readFile(f message.File, p []byte, offset int64) (int, error) {
	return syscall.Pread(f.Descriptor(), p, offset) //nolint:wrapcheck // looked at by nobody
}

// send sends what the socket takes. It reports false where more is left and the socket takes nothing now.
func (s *sender) send(fd uintptr) (done bool) {
	for len(s.head) > 0 || s.left > 0 {
		n, err := s.some(int(fd))
		if n > 0 {
			continue
		}
		switch err { //nolint:errorlint // a bare Errno
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			return true
		}
	}
	return true
}

// mostUntold is the largest part of a file in memory that is sent by a call that the scheduler is not told of: a copy
// to a socket of this machine takes a microsecond for each 5 KiB or so.
const mostUntold = 64 << 10

// untold reports whether to send what is left of the file never waits, and takes little time. A disk may hang, and with a
// call that the scheduler is not told of so would all goroutines.
func (s *sender) untold() bool { return !s.waits && s.left <= mostUntold }

// some sends from the head, and behind it from the file. The head says that more follows, so
// that it leaves with the first bytes of the file.
func (s *sender) some(fd int) (n int, err error) {
	if len(s.head) > 0 {
		n, err = nonblock.Send(fd, s.head, s.left > 0)
		s.head = s.head[max(n, 0):]
		return n, err //nolint:wrapcheck // looked at by send
	}
	if s.untold() {
		n, err = nonblock.Sendfile(fd, s.file, &s.offset, int(s.left))
	} else {
		n, err = syscall.Sendfile(fd, s.file, &s.offset, int(s.left))
	}
	s.left -= int64(max(n, 0))
	return n, err //nolint:wrapcheck // as above
}
