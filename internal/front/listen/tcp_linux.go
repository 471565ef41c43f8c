package listen

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"
)

// KernelDropsStalled says that the kernel ends a TCP connection whose client takes
// nothing for WriteIdleTimeout. It sees progress, where a deadline sees only the end of a
// write, and costs a hit nothing: a deadline takes two clock reads.
const KernelDropsStalled = true

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h: the milliseconds that sent
// data may stay unacknowledged, or waiting data unsent because the client's
// window is closed (RFC 5482).
const tcpUserTimeout = 18

// listenTCP listens on address; accepted connections inherit the timeout.
func listenTCP(ctx context.Context, address string, writeIdleTimeout time.Duration) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return setUserTimeout(c, writeIdleTimeout) }}
	return lc.Listen(ctx, Network(address), address)
}

// dropStalled gives the timeout to a listener that was opened elsewhere.
func dropStalled(ln net.Listener, writeIdleTimeout time.Duration) error {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return nil
	}
	c, err := tcp.SyscallConn()
	if err == nil {
		err = setUserTimeout(c, writeIdleTimeout)
	}
	if err != nil {
		return fmt.Errorf("set TCP_USER_TIMEOUT: %w", err)
	}
	return nil
}

func setUserTimeout(c syscall.RawConn, writeIdleTimeout time.Duration) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(writeIdleTimeout.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
