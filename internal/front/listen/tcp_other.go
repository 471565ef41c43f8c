//go:build !linux

package listen

import (
	"context"
	"net"
	"time"
)

// KernelDropsStalled: see tcp_linux.go. Elsewhere each write has a deadline.
const KernelDropsStalled = false

func listenTCP(ctx context.Context, address string, _ time.Duration) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, Network(address), address)
}

func dropStalled(net.Listener, time.Duration) error { return nil }
