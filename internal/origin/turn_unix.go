//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package origin

import (
	"net"
	"syscall"
)

// turn sends on a socket that lay idle and waits for what comes, in one turn with the poller: that
// says when something has arrived since the turn began. So nothing is read before there is something to
// read. The socket is looked at within the turn, too. It must not run beside a read.
type turn struct {
	nc   net.Conn
	raw  syscall.RawConn
	step func(fd uintptr) (over bool) // next; a method value made each time would be an allocation

	out   []byte // to be sent
	begun bool   // sending
	err   error  // of sending
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

// run sends out and waits until something can be read. It reports false where it has sent nothing: what
// has arrived before would be taken for the answer, or the connection has ended. The error is of sending.
// That of waiting is got again by who reads.
func (t *turn) run(out []byte) (begun bool, err error) {
	t.out, t.begun, t.err = out, false, nil
	_ = t.raw.Read(t.step)
	t.out = nil
	return t.begun, t.err
}

// next is called when the turn begins, and when something can be read.
func (t *turn) next(fd uintptr) (over bool) {
	if t.begun || !nothingArrived(fd) {
		return true
	}
	t.begun = true
	_, t.err = t.nc.Write(t.out)
	return t.err != nil
}
