//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package origin

import (
	"net"
	"syscall"

	"edgeproxy/internal/conn/nonblock"
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
	quiet := false
	peek := func(fd uintptr) bool {
		quiet = nonblock.Quiet(int(fd))
		return true // never wait
	}
	return func() bool { return raw.Read(peek) == nil && quiet }
}
