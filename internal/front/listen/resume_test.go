package listen

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestClientsThatComeBackResumeTheirSession: a handshake costs more than many hits, so a client
// that returns must not pay for another one. The keys of tickets are those of crypto/tls, which
// makes a new one each day and forgets one after seven.
func TestClientsThatComeBackResumeTheirSession(t *testing.T) {
	s, ahead := resumable(t)
	f := func(ln net.Listener, name string, protocols ...string) {
		t.Run(name, func(t *testing.T) {
			cache := tls.NewLRUClientSessionCache(4)
			resumes := func(now time.Duration, want bool) {
				t.Helper()
				ahead.Store(int64(now))
				if got := resumed(t, ln, cache, protocols...); got != want {
					t.Errorf("after %v: resumed is %v, want %v", now, got, want)
				}
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

// TestKeysOfTicketsAreForgotten: who learns a key reads no more than a week of sessions. The
// clock goes back then, for a ticket that is too old is refused whatever its key is.
func TestKeysOfTicketsAreForgotten(t *testing.T) {
	s, ahead := resumable(t)
	first, second := tls.NewLRUClientSessionCache(1), tls.NewLRUClientSessionCache(1)
	for _, step := range []struct {
		now   time.Duration
		cache tls.ClientSessionCache
		want  bool
	}{
		{0, first, false},
		{26 * time.Hour, second, false}, // the key is another one
		{8 * 24 * time.Hour, tls.NewLRUClientSessionCache(1), false},
		{27 * time.Hour, second, true},
		{time.Hour, first, false},
	} {
		ahead.Store(int64(step.now))
		if got := resumed(t, s.H1(), step.cache, protocolH1); got != step.want {
			t.Errorf("at %v: resumed is %v, want %v", step.now, got, step.want)
		}
	}
}

// resumable returns a Secure, and by how much its clock goes ahead.
func resumable(t *testing.T) (s *Secure, ahead *atomic.Int64) {
	t.Helper()
	ahead = new(atomic.Int64)
	ln := mustOpen(t, Options{Address: "127.0.0.1:0"})
	s = NewSecure(ln, SecureOptions{
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
	return s, ahead
}

// resumed connects a client, and reports whether that resumed a session.
func resumed(t *testing.T, ln net.Listener, cache tls.ClientSessionCache, protocols ...string) bool {
	t.Helper()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := ln.Accept()
		_, _ = io.WriteString(c, "x") // tickets come with what is sent first
		accepted <- c
	}()
	client, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true, ServerName: "a.example", NextProtos: protocols, ClientSessionCache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	got := client.ConnectionState().DidResume
	_ = client.Close()
	_ = (<-accepted).Close()
	return got
}
