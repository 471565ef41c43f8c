package http1

import (
	"net"
	"syscall"

	"edgeproxy/internal/conn/nonblock"
	"edgeproxy/internal/http/message"
)

// sender sends a head and a part of a file on a socket by sendfile(2), or bytes without a file. It belongs to
// a connection, and allocates nothing for an answer.
type sender struct {
	raw syscall.RawConn
	try func(fd uintptr) (done bool) // s.send, made once

	head     []byte // what is left of it
	body     []byte // what is left of the bytes behind head; nil where a file follows, or nothing
	mayBlock bool   // the file lies on a disk, so sending from it may block
	file     int
	offset   int64
	left     int64
}

// sendsFiles reports whether c can send from a file: it is a socket of TCP, and nothing else.
func (c *conn) sendsFiles() bool {
	_, tcp := c.Conn.(*net.TCPConn)
	return tcp && c.awaiter != nil
}

// sendFile writes head, and length bytes of f from offset on. waits says that f lies on a disk, and not in memory. It
// returns how many bytes of f were sent. If these are not all, the file cannot be sent, or the connection is broken. The
// caller then writes headLeft, which was not sent, and the rest in another way, which also tells an error.
func (c *conn) sendFile(head []byte, f message.File, offset, length int64, waits bool) (sent int64, headLeft []byte) {
	s := c.getSender()
	s.file, s.offset, s.left, s.mayBlock = f.Descriptor(), offset, length, waits
	headLeft = s.sendAll(head)
	return length - s.left, headLeft
}

// sendBytes writes b, by calls that the scheduler is not told of. If it returns a rest of b, the connection is
// broken; to write the rest in another way returns the error.
func (c *conn) sendBytes(b []byte) (left []byte) {
	s := c.getSender()
	s.left = 0
	return s.sendAll(b)
}

// sendBoth is sendBytes of head and then of body. It returns what is left of each.
func (c *conn) sendBoth(head, body []byte) (headLeft, bodyLeft []byte) {
	s := c.getSender()
	s.left, s.body = 0, body
	headLeft = s.sendAll(head)
	bodyLeft, s.body = s.body, nil
	return headLeft, bodyLeft
}

func (c *conn) getSender() *sender {
	if c.sender == nil {
		s := &sender{raw: c.awaiter.raw}
		s.try = s.send
		c.sender = s
	}
	return c.sender
}

// sendAll sends head, and then left bytes of the file. It returns what is left of head.
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

// send sends what the socket takes. It reports false if more is left and the socket takes nothing now.
func (s *sender) send(fd uintptr) (done bool) {
	for len(s.head) > 0 || len(s.body) > 0 || s.left > 0 {
		n, err := s.sendOnce(int(fd))
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

// untold reports whether sending what is left of the file never blocks, and takes little time. Only then may the scheduler
// not be told: if a disk hung in such a call, all goroutines could hang.
func (s *sender) untold() bool { return !s.mayBlock && s.left <= maxUntoldBytes }

// sendOnce makes one system call, which sends from the head and the body or, when all of these are sent, from the file. It
// sends the head with MSG_MORE, so that it leaves with the first bytes of the file.
func (s *sender) sendOnce(fd int) (n int, err error) {
	switch {
	case len(s.head) > 0 && len(s.body) > 0:
		n, err = nonblock.SendBoth(fd, s.head, s.body)
		ofHead := min(max(n, 0), len(s.head))
		s.head, s.body = s.head[ofHead:], s.body[max(n, 0)-ofHead:]
		return n, err //nolint:wrapcheck // looked at by send
	case len(s.body) > 0:
		n, err = nonblock.Send(fd, s.body, false)
		s.body = s.body[max(n, 0):]
		return n, err //nolint:wrapcheck // looked at by send
	case len(s.head) > 0:
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
	return n, err //nolint:wrapcheck // looked at by send
}
