//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package origin

import (
	"io"
	"net"
	"os"
	"syscall"

	"edgeproxy/internal/conn/nonblock"
)

// turn sends on an idle socket, waits for bytes and reads them, in one call of RawConn.Read. In that call the
// poller reports only what has arrived since the call began, so no read is tried before there is something to
// read. The turn also checks first that nothing has arrived on the socket. It must not run beside a read. Its
// system calls are made without telling the scheduler (0077).
type turn struct {
	nc   net.Conn
	raw  syscall.RawConn
	step func(fd uintptr) (over bool) // next; a method value made each time would be an allocation

	out   []byte // to be sent
	in    []byte // for what comes
	begun bool   // sending
	sent  error  // error of sending; nil: all was sent
	n     int    // bytes read
	err   error  // error of reading
}

// newTurn returns the turn of a socket; nil for anything else.
func newTurn(nc net.Conn) *turn {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	t := &turn{nc: nc, raw: raw}
	t.step = t.next
	return t
}

// run sends out, waits until something can be read, and reads it into in. If begun is false afterwards, it has
// sent nothing: bytes had arrived before, which would be taken for the answer, or the connection had ended. It
// returns an error of reading, which another read would not return. After an error of sending or waiting it
// returns 0 and no error; the next read returns that one.
func (t *turn) run(out, in []byte) (n int, err error) {
	t.out, t.in, t.begun, t.sent, t.n, t.err = out, in, false, nil, 0, nil
	_ = t.raw.Read(t.step)
	t.out, t.in = nil, nil
	return t.n, t.err
}

// next is called when the turn begins, and when something can be read.
func (t *turn) next(fd uintptr) (over bool) {
	switch {
	case t.begun:
		return t.read(int(fd))
	case !nonblock.Quiet(int(fd)):
		return true
	}
	t.begun = true
	t.sent = t.send(int(fd))
	return t.sent != nil
}

// send sends all of t.out. What the socket does not take at once it sends by Write, which can wait and returns the error.
func (t *turn) send(fd int) error {
	n, _ := nonblock.Send(fd, t.out, false)
	if n = max(n, 0); n == len(t.out) {
		return nil
	}
	_, err := t.nc.Write(t.out[n:])
	return err
}

// readNow reads into in what has arrived, and does not wait. errCutOff says that nothing has, or that the socket cannot be read
// now; the next read returns that error, too. No other read returns its other errors.
func (t *turn) readNow(in []byte) (n int, err error) {
	came := false
	t.in, t.n, t.err = in, 0, nil
	_ = t.raw.Read(func(fd uintptr) bool {
		came = t.read(int(fd))
		return true // never wait
	})
	t.in = nil
	if !came {
		return 0, errCutOff
	}
	return t.n, t.err
}

// read reads what is there, and reports false where that is nothing yet.
func (t *turn) read(fd int) (over bool) {
	n, err := nonblock.Read(fd, t.in)
	for err == syscall.EINTR { //nolint:errorlint // a bare Errno
		n, err = nonblock.Read(fd, t.in)
	}
	switch {
	case n > 0:
		t.n = n
	case err == syscall.EAGAIN: //nolint:errorlint // a bare Errno
		return false
	case err == nil:
		t.err = io.EOF
	default:
		at := t.nc.LocalAddr()
		t.err = &net.OpError{Op: "read", Net: at.Network(), Source: at, Addr: t.nc.RemoteAddr(), Err: os.NewSyscallError("recvfrom", err)}
	}
	return true
}
