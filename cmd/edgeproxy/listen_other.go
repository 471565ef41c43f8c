//go:build !linux

package main

import (
	"context"
	"net"
	"time"
)

// kernelDropsStalled: see listen_linux.go. Elsewhere each write has a deadline.
const kernelDropsStalled = false

func listenTCP(ctx context.Context, address string, _ time.Duration) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}
