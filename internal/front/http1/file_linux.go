package http1

import (
	"errors"
	"net"
	"syscall"

	"edgeproxy/internal/message"
)

// sender sends a head and a part of a file on a socket: the kernel sends the pages of the file as they
// are. It belongs to a connection, and takes no memory for an answer.
type sender struct {
	raw syscall.RawConn
	try func(fd uintptr) (done bool) // s.send, made once

	head   []byte // what is left of it
	file   int
	offset int64
	left   int64
}

// sendsFiles reports whether c can send from a file: it is a socket of TCP, and nothing else.
func (c *conn) sendsFiles() bool {
	_, tcp := c.Conn.(*net.TCPConn)
	return tcp && c.awaiter != nil
}

// sendFile writes head, and length bytes of f from offset on. It returns how many of these were
// sent. Where that is not all of them the file cannot be sent, or the connection is broken: to write the
// rest in another way tells which. headLeft was not sent then.
func (c *conn) sendFile(head []byte, f message.File, offset, length int64) (sent int64, headLeft []byte) {
	s := c.sender
	if s == nil {
		s = &sender{raw: c.awaiter.raw}
		s.try = s.send
		c.sender = s
	}
	s.head, s.file, s.offset, s.left = head, f.Descriptor(), offset, length
	_ = s.raw.Write(s.try) // so does the next write fail
	sent, headLeft = length-s.left, s.head
	s.head = nil
	return sent, headLeft
}

// send sends what the socket takes. It reports false where more is left and the socket takes nothing now.
func (s *sender) send(fd uintptr) (done bool) {
	for len(s.head) > 0 || s.left > 0 {
		n, err := s.some(int(fd))
		switch {
		case n > 0 || errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		default:
			return true
		}
	}
	return true
}

// some sends from the head, and behind it from the file. The head says that more follows (MSG_MORE), so
// that it leaves with the first bytes of the file.
func (s *sender) some(fd int) (n int, err error) {
	if len(s.head) > 0 {
		n, err = syscall.SendmsgN(fd, s.head, nil, nil, syscall.MSG_NOSIGNAL|syscall.MSG_MORE)
		s.head = s.head[max(n, 0):]
		return n, err //nolint:wrapcheck // looked at by send
	}
	n, err = syscall.Sendfile(fd, s.file, &s.offset, int(s.left))
	s.left -= int64(max(n, 0))
	return n, err //nolint:wrapcheck // as above
}
