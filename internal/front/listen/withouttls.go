package listen

import (
	"context"
	"net"
	"syscall"
)

// This file tells a client that speaks HTTP without TLS from one that begins a handshake, by the first byte: one of TLS
// has 22 there (RFC 8446 section 5.1), a request the letter of a method. The byte is looked at and not taken, so a
// connection that goes on to its handshake is the bare one.

// WithoutTLS is a connection on a port for TLS whose client speaks without TLS. Its server answers one request, with a
// refusal.
type WithoutTLS struct{ net.Conn }

// NetConn returns the bare connection.
func (c WithoutTLS) NetConn() net.Conn { return c.Conn }

// WithoutTLS marks the type for packages that do not import this one.
func (WithoutTLS) WithoutTLS() {}

// speaksPlain waits for the first byte of conn and reports whether it is a letter. It reports false if the byte cannot
// be peeked at, or if ctx ends, which closes conn.
func speaksPlain(ctx context.Context, conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var first byte
	_ = raw.Read(func(fd uintptr) (done bool) {
		first, done = peek(fd)
		return done
	})
	return 'a' <= first|0x20 && first|0x20 <= 'z'
}

// hasUnread reports whether something has come on conn that nobody has read. It waits for nothing.
func hasUnread(conn net.Conn) (has bool) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // an error: it is closed
		first, done := peek(fd)
		has = done && first != 0 // no record of TLS begins with 0
	})
	return has
}

// peek returns the first byte that has come on a socket, which keeps it; 0 where none will. done is false where it is
// still to come.
func peek(fd uintptr) (first byte, done bool) {
	var b [1]byte
	for {
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, false
		case err != nil || n < 1:
			return 0, true
		default:
			return b[0], true
		}
	}
}
