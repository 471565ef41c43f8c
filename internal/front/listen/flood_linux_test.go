package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
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

// TestAFloodOfHandshakesLockedOutItsAddress: beyond the limit the newest handshake of the client with the most was cut. Everybody
// behind a load balancer has its address, and who comes now always has the newest.
func TestAFloodOfHandshakesLockedOutItsAddress(t *testing.T) {
	const at = 8
	hello := helloOf(t)
	for name, say := range map[string][]byte{"silent": nil, "that stop after the ClientHello": hello} {
		t.Run(name, func(t *testing.T) {
			s, address, _ := secured(t, time.Hour, at)
			come := 0
			flood := func(n int) {
				t.Helper()
				for range n {
					if _, err := dialFrom(t, "127.0.0.1", address).Write(say); err != nil {
						t.Fatal(err)
					}
				}
				come += n
				testkit.Eventually(t, "each of the flood waits or was cut, and nobody else waits", func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return s.silent.len()+s.helloSent.len()+int(s.Cut()) == come && (say == nil || s.silent.len() == 0)
				})
			}
			for range 10 {
				flood(2 * at)
				accepted := make(chan net.Conn, 1)
				go func() {
					c, _ := s.H1().Accept()
					accepted <- c
				}()
				connect(t, address)
				_ = (<-accepted).Close() // the flood may cut it until then
			}
		})
	}
}

// TestAHandshakeThatWaitedForAProcessorWasCut as silent, where many clients came at once: what its client had sent lay unread.
func TestAHandshakeThatWaitedForAProcessorWasCut(t *testing.T) {
	ln := mustOpen(t, Options{Address: "127.0.0.1:0"})
	s := NewSecure(ln, SecureOptions{Config: &tls.Config{}, Handshakes: 1, Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	come := func() (server, client net.Conn) {
		t.Helper()
		client = dialFrom(t, "127.0.0.1", ln.Addr().String())
		server, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		return server, client
	}
	first, said := come()
	_, _ = said.Write([]byte{22})
	testkit.Eventually(t, "what the first has sent has come", func() bool { return hasUnread(first) })
	if s.addHandshake(first) == nil {
		t.Fatal("the first was cut")
	}
	if second, _ := come(); s.addHandshake(second) != nil {
		t.Error("the second goes on, want it cut: the first waits for us")
	}
	if _, err := first.Read(make([]byte, 1)); err != nil {
		t.Errorf("the first: %v", err)
	}
	if third, _ := come(); s.addHandshake(third) == nil {
		t.Error("the third was cut, want the first: it waits for its client")
	}
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the first: got %v, want its end", err)
	}
	if cut := s.Cut(); cut != 2 {
		t.Errorf("%d were cut, want 2", cut)
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
