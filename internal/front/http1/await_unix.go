//go:build unix

package http1

import (
	"io"
	"net"
	"syscall"

	"edgeproxy/internal/nonblock"
)

// awaiter reads the first bytes of a request from a socket: it takes a buffer when they are there,
// so that a connection that waits has none.
type awaiter struct {
	conn *conn
	raw  syscall.RawConn
	try  func(fd uintptr) (done bool) // a.read, made once
	n    int
	err  error
	// row counts the reads that found something, since one found nothing or the scheduler was told.
	row int
}

// mostInRow is how many requests a connection may have one behind the other without waiting for one, and
// without the scheduler hearing of it, which would interrupt it for others after a while.
const mostInRow = 32

// newAwaiter returns nil where what is below c is no socket of this process.
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

// await waits for bytes and reads them into a buffer that it takes for them. Without any the
// connection has no buffer.
func (a *awaiter) await() (n int, err error) {
	err = a.raw.Read(a.try)
	n, a.n = a.n, 0
	if err == nil {
		err, a.err = a.err, nil
	}
	return n, err //nolint:wrapcheck // looked at by conn
}

// read reads what is there. It reports false where that is nothing yet.
func (a *awaiter) read(fd uintptr) (done bool) {
	a.conn.takeBuffer()
	for {
		n, err := a.some(int(fd))
		if n > 0 {
			a.n = n
			return true
		}
		switch err { //nolint:errorlint // a bare Errno, and errors.Is takes longer: in each hit
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			a.row = 0
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

func (a *awaiter) some(fd int) (n int, err error) {
	if a.row++; a.row < mostInRow {
		return nonblock.Read(fd, *a.conn.buf) //nolint:wrapcheck // looked at by read
	}
	a.row = 0
	return nonblock.ReadTold(fd, *a.conn.buf) //nolint:wrapcheck // as above
}
