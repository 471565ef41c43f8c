package listen

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/testkit"
)

// TestClientsThatComeBackResumeTheirSession: a handshake costs more than many hits, so a client
// that returns must not pay for another one. The keys of tickets are those of crypto/tls, which
// makes a new one each day and forgets one after seven.
func TestClientsThatComeBackResumeTheirSession(t *testing.T) {
	var ahead atomic.Int64 // of the server's clock
	ln := mustOpen(t, Options{Address: "127.0.0.1:0"})
	s := NewSecure(ln, SecureOptions{
		Config: &tls.Config{
			Certificates: []tls.Certificate{testkit.NewAuthority(t).Good("a.example")},
			Time:         func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		},
		HandshakeTimeout: patience, Handshakes: 4, Log: slog.New(slog.DiscardHandler),
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve()
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	f := func(ln net.Listener, name string, protocols ...string) {
		t.Run(name, func(t *testing.T) {
			cache := tls.NewLRUClientSessionCache(4)
			resumes := func(now time.Duration, want bool) {
				t.Helper()
				ahead.Store(int64(now))
				accepted := make(chan net.Conn, 1)
				go func() {
					c, _ := ln.Accept()
					_, _ = io.WriteString(c, "x") // tickets come with what is sent first
					accepted <- c
				}()
				client, err := tls.Dial("tcp", s.from.Addr().String(), &tls.Config{InsecureSkipVerify: true, ServerName: "a.example", NextProtos: protocols, ClientSessionCache: cache})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				if got := client.ConnectionState().DidResume; got != want {
					t.Errorf("after %v: resumed is %v, want %v", now, got, want)
				}
				_ = client.Close()
				_ = (<-accepted).Close()
			}
			resumes(0, false)
			resumes(time.Hour, true)
			resumes(26*time.Hour, true)
			resumes(34*24*time.Hour, false)
		})
	}
	f(s.H1(), "HTTP/1.1", "http/1.1")
	f(s.H2(), "HTTP/2", "h2")
}
