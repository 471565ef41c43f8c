package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

const patience = testkit.Patience

// secured runs a Secure until the end of the test; gone are the connections that it
// drops.
func secured(t *testing.T, handshake time.Duration, at int) (s *Secure, address string, gone chan net.Conn) {
	t.Helper()
	ln := mustOpen(t, Options{Address: "127.0.0.1:0"})
	gone = make(chan net.Conn, 2000)
	s = NewSecure(ln, SecureOptions{
		Config:           &tls.Config{Certificates: []tls.Certificate{testkit.NewAuthority(t).Good("a.example")}},
		HandshakeTimeout: handshake, Handshakes: at, Gone: func(c net.Conn) { gone <- c }, Log: slog.New(slog.DiscardHandler),
	})
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: got %v, want closed", err)
		}
		for _, ln := range []net.Listener{s.H1(), s.H2()} {
			if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept behind a closed listener: got %v, want closed", err)
			}
		}
	})
	return s, ln.Addr().String(), gone
}

func connect(t *testing.T, address string, protocols ...string) *tls.Conn {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}}
	c, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*tls.Conn)
}

func TestConnectionsArePartedByTheirProtocol(t *testing.T) {
	s, address, _ := secured(t, patience, 4)
	f := func(ln net.Listener, chosen string, protocols ...string) {
		t.Helper()
		accepted := make(chan net.Conn, 1)
		go func() {
			c, _ := ln.Accept()
			accepted <- c
		}()
		client := connect(t, address, protocols...)
		server := <-accepted
		defer server.Close()
		if got := client.ConnectionState().NegotiatedProtocol; got != chosen {
			t.Errorf("%v: got %q, want %q", protocols, got, chosen)
		}
		if _, ok := server.(*tls.Conn); !ok { // which net/http goes by
			t.Errorf("%v: got a %T", protocols, server)
		}
		_, _ = io.WriteString(client, "hello")
		_ = client.CloseWrite()
		if text, err := io.ReadAll(server); err != nil || string(text) != "hello" {
			t.Errorf("%v: got %q, %v, want hello", protocols, text, err)
		}
	}
	f(s.H1(), "http/1.1", "http/1.1")
	f(s.H1(), "")
	f(s.H2(), "h2", "h2")
	f(s.H2(), "h2", "http/1.1", "h2")
}

// quiet is a client that has connected and says nothing, while s waits for it.
func quiet(t *testing.T, s *Secure, address string) net.Conn {
	t.Helper()
	before := s.Handshakes()
	c := dialFrom(t, "127.0.0.1", address)
	testkit.Eventually(t, "a handshake is under way", func() bool { return s.Handshakes() > before })
	return c
}

// dialFrom connects from an address of the loopback.
func dialFrom(t *testing.T, ip, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	c, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestCloseEndsHandshakes: the process waited for those who say nothing until their time
// was over.
func TestCloseEndsHandshakes(t *testing.T) {
	s, address, gone := secured(t, time.Hour, 4)
	quiet(t, s, address)
	_ = s.Close()
	select {
	case <-gone:
	case <-time.After(patience):
		t.Error("the handshake goes on after Close")
	}
}

// TestAHandshakeOutlastsItsListener: a client that was accepted before the end may still be served.
func TestAHandshakeOutlastsItsListener(t *testing.T) {
	s, address, _ := secured(t, patience, 4)
	c := quiet(t, s, address)
	_ = s.from.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := s.H1().Accept()
		accepted <- c
	}()
	if err := tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context()); err != nil {
		t.Error(err)
	}
	if server := <-accepted; server == nil {
		t.Error("nobody serves who has shaken hands after the listener was closed")
	} else {
		_ = server.Close()
	}
}

// TestAClientWithoutAHandshakeHoldsUpNobody: others shake hands beside those that say nothing, and one that speaks neither TLS nor
// HTTP is let go at once.
func TestAClientWithoutAHandshakeHoldsUpNobody(t *testing.T) {
	s, address, gone := secured(t, time.Hour, 3)
	quiet(t, s, address)
	quiet(t, s, address)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := s.H1().Accept()
		accepted <- c
	}()
	connect(t, address)
	_ = (<-accepted).Close()
	testkit.Eventually(t, "the two that say nothing are left", func() bool { return s.Handshakes() == 2 })
	_, _ = io.WriteString(dialFrom(t, "127.0.0.1", address), "\x00\r\n\r\n")
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatal("a client that speaks neither TLS nor HTTP was not let go")
	}
	if n := s.Handshakes(); len(gone) > 0 || s.Cut() > 0 || n < 2 {
		t.Errorf("%d more are gone, %d were cut, and %d are left, want the two that say nothing", len(gone), s.Cut(), n)
	}
}

// TestAClientWithoutAHandshakeIsLetGo in the time of a handshake.
func TestAClientWithoutAHandshakeIsLetGo(t *testing.T) {
	_, address, gone := secured(t, 50*time.Millisecond, 3)
	dialFrom(t, "127.0.0.1", address)
	dialFrom(t, "127.0.0.1", address)
	for range 2 {
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("a silent client was not let go")
		}
	}
}

// TestAClientWithoutTLSIsHandedOnAsItCame: nothing of what it has said is taken.
func TestAClientWithoutTLSIsHandedOnAsItCame(t *testing.T) {
	s, address, _ := secured(t, patience, 4)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := s.H1().Accept()
		accepted <- c
	}()
	c := quiet(t, s, address)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n")
	server := <-accepted
	defer server.Close()
	if _, ok := server.(interface{ WithoutTLS() }); !ok {
		t.Errorf("got a %T, want one that says that it is WithoutTLS", server)
	}
	b := make([]byte, len("GET / HTTP/1.1\r\n"))
	if _, err := io.ReadFull(server, b); err != nil || string(b) != "GET / HTTP/1.1\r\n" {
		t.Errorf("got %q, %v", b, err)
	}
	testkit.Eventually(t, "no handshake is under way", func() bool { return s.Handshakes() == 0 })
}
