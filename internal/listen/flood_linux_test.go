package listen

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/testkit"
)

// TestSilentClientsKeepNobodyElseOut: accepting waited for one of them to end, so handshakes
// took seconds while many came.
func TestSilentClientsKeepNobodyElseOut(t *testing.T) {
	const at, flood = 64, 1000
	s, address, _ := secured(t, time.Hour, at)
	early := dialFrom(t, "127.0.0.1", address)
	testkit.Eventually(t, "the first is there", func() bool { return s.Handshakes() == 1 })
	for i := range flood {
		dialFrom(t, fmt.Sprintf("127.0.0.%d", 2+i%3), address)
	}
	go func() {
		for {
			c, err := s.H1().Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	handshake := func(c net.Conn) {
		t.Helper()
		begun := time.Now()
		_ = c.SetDeadline(begun.Add(patience))
		if err := tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context()); err != nil {
			t.Errorf("an honest client: %v", err)
		}
	}
	for range 10 {
		handshake(dialFrom(t, "127.0.0.1", address))
	}
	handshake(early)
	testkit.Eventually(t, "as many as may be are left", func() bool { return s.Handshakes() <= at })
	if cut := s.Cut(); cut < flood-at {
		t.Errorf("%d were cut, want %d", cut, flood-at)
	}
}

// TestClientsThatStopAfterTheirHelloKeepNobodyElseOut: a client that has said what it wants, and no
// more, has a limit of its own.
func TestClientsThatStopAfterTheirHelloKeepNobodyElseOut(t *testing.T) {
	const at = 4
	s, address, _ := secured(t, time.Hour, at)
	hello := helloOf(t)
	for range 3 * at {
		c := dialFrom(t, "127.0.0.2", address)
		if _, err := c.Write(hello); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, "as many as may be are in the middle of a handshake", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.helloSent.len() == at && s.silent.len() == 0
	})
	go func() {
		if c, err := s.H1().Accept(); err == nil {
			_ = c.Close()
		}
	}()
	connect(t, address)
	if cut := s.Cut(); cut < 2*at {
		t.Errorf("%d were cut, want %d or more", cut, 2*at)
	}
}

// helloOf returns the ClientHello of a client.
func helloOf(t *testing.T) []byte {
	t.Helper()
	client, server := net.Pipe()
	go func() { _ = tls.Client(client, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context()) }()
	defer client.Close()
	b := make([]byte, 16<<10)
	n, err := server.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}
