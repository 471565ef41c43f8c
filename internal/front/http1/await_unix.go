//go:build unix

package http1

import (
	"io"
	"net"
	"syscall"

	"edgeproxy/internal/conn/nonblock"
)

// awaiter reads the first bytes of a request from a socket. It takes a buffer only when they have come,
// so a connection that waits holds none.
type awaiter struct {
	conn *conn
	raw  syscall.RawConn
	try  func(fd uintptr) (done bool) // a.read, made once
	n    int
	err  error
	// untoldReads counts the reads since one found nothing or the scheduler was told of one.
	untoldReads int
}

// maxUntoldReads bounds the reads in a row that found a request without a wait. The scheduler is not told of these
// system calls. Each maxUntoldReads-th read tells it, so that it can run other goroutines.
const maxUntoldReads = 32

// newAwaiter returns nil if the connection below c is not a socket.
func newAwaiter(c *conn) *awaiter {
	var raw syscall.RawConn
	var err error
	switch below := c.Conn.(type) {
	case *net.TCPConn:
		raw, err = below.SyscallConn()
	case *net.UnixConn:
		raw, err = below.SyscallConn()
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	a := &awaiter{conn: c, raw: raw}
	a.try = a.read
	return a
}

// await waits for bytes and reads them into a buffer that it takes for them. If none come, the
// connection has no buffer.
func (a *awaiter) await() (n int, err error) {
	err = a.raw.Read(a.try)
	n, a.n = a.n, 0
	if err == nil {
		err, a.err = a.err, nil
	}
	return n, err //nolint:wrapcheck // looked at by conn
}

// read reads what is there. It reports false if there is nothing yet.
func (a *awaiter) read(fd uintptr) (done bool) {
	a.conn.takeBuffer()
	for {
		n, err := a.readOnce(int(fd))
		if n > 0 {
			a.n = n
			return true
		}
		switch err { //nolint:errorlint // a bare Errno, and errors.Is takes longer: in each hit
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			a.untoldReads = 0
			a.conn.freeBuffer()
			return false
		case nil:
			err = io.EOF
		}
		a.conn.freeBuffer()
		a.err = err
		return true
	}
}

func (a *awaiter) readOnce(fd int) (n int, err error) {
	if a.untoldReads++; a.untoldReads < maxUntoldReads {
		return nonblock.Read(fd, *a.conn.buf) //nolint:wrapcheck // looked at by read
	}
	a.untoldReads = 0
	return nonblock.ReadTold(fd, *a.conn.buf) //nolint:wrapcheck // looked at by read
}
