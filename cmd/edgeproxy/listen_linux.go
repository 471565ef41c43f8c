package main

import (
	"context"
	"net"
	"syscall"
	"time"
)

// kernelDropsStalled says that the kernel ends a connection whose client takes
// nothing for limits.write_idle. It sees progress, where a deadline sees only the
// end of a write, and costs a hit nothing: a deadline takes two clock reads.
const kernelDropsStalled = true

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h: the milliseconds that sent
// data may stay unacknowledged, or waiting data unsent because the client's
// window is closed (RFC 5482).
const tcpUserTimeout = 18

// listenTCP listens on address; accepted connections inherit the timeout.
func listenTCP(ctx context.Context, address string, writeIdle time.Duration) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(writeIdle.Milliseconds()))
		})
		if err != nil {
			return err
		}
		return failed
	}}
	return lc.Listen(ctx, "tcp", address)
}
