package main

import (
	"net"
	"syscall"
	"testing"
)

// TestASilentHandshakeDoesNotHoldUpTheEnd: it had limits.header_timeout, whatever
// drain_timeout was.
func TestASilentHandshakeDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "limits: {header_timeout: 10m}")
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.raw(t) // whose handshake comes after
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}
