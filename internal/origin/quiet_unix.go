//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package origin

import (
	"errors"
	"net"
	"syscall"
)

// socketQuiet returns a function that reports, without waiting, whether nothing
// has arrived on nc since it was last read: no byte, no end, no error. It
// returns nil where nc is no socket. The function must not run beside itself.
func socketQuiet(nc net.Conn) func() bool {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var (
		b      [1]byte
		result error
	)
	peek := func(fd uintptr) bool {
		_, _, result = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true // never wait
	}
	return func() bool {
		if raw.Read(peek) != nil {
			return false
		}
		return errors.Is(result, syscall.EAGAIN) || errors.Is(result, syscall.EWOULDBLOCK)
	}
}
