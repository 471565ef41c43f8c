package testkit

import (
	"net"
	"testing"
)

// Accept listens on address until the test is over, and gives each connection to serve, in a
// goroutine of its own. It returns the address that it got; serve closes the connection.
func Accept(tb testing.TB, address string, serve func(net.Conn)) string {
	tb.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}
