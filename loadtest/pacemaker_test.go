package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// paceServer answers keys with status until closeAfter of them (0 = for ever). A
// reload ends the connection that was first.
type paceServer struct {
	net.Listener
	status     string
	closeAfter int64
	fed        atomic.Int64
	atReload   atomic.Int64
	more       chan struct{} // one for each of the first keys behind the reload
	reload     chan os.Signal
}

func newPaceServer(t *testing.T, status string, closeAfter int64) *paceServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &paceServer{Listener: ln, status: status, closeAfter: closeAfter, reload: make(chan os.Signal, 1), more: make(chan struct{}, 3)}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for first := true; ; first = false {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if first {
				go func() { <-s.reload; s.atReload.Store(s.fed.Load()); conn.Close() }()
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *paceServer) serve(conn net.Conn) {
	defer conn.Close()
	br := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(br); err != nil {
			return
		}
		n := s.fed.Add(1)
		if s.closeAfter > 0 && n > s.closeAfter {
			return
		}
		if n > paceAhead && n <= paceAhead+int64(cap(s.more)) {
			s.more <- struct{}{}
		}
		fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", s.status)
	}
}

// hearReload lets this process stand in for nginx's master, whose SIGHUP goes to c.
func hearReload(t *testing.T, c chan os.Signal) {
	t.Helper()
	signal.Notify(c, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(c) })
}

func self(t *testing.T) *os.Process {
	t.Helper()
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPaceBeginsBehindAReload: keys first, then the new manager, and no end.
func TestPaceBeginsBehindAReload(t *testing.T) {
	s := newPaceServer(t, "204 No Content", 0)
	hearReload(t, s.reload)
	p, err := startPacemaker(t.Context(), self(t), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.atReload.Load(); got != paceAhead {
		t.Errorf("got %d keys before the reload, want %d", got, paceAhead)
	}
	for range cap(s.more) {
		select {
		case <-s.more:
		case <-p.stopped:
			t.Fatal("no more keys behind the reload")
		}
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestPaceThatCannotBeginIsAnError(t *testing.T) {
	f := func(ctx context.Context, want string, s *paceServer) {
		t.Helper()
		if _, err := startPacemaker(ctx, self(t), s.Addr().String()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f(t.Context(), "status 502", newPaceServer(t, "502 Bad Gateway", 0))
	f(t.Context(), "EOF", newPaceServer(t, "204 No Content", 5))
	none := newPaceServer(t, "", 0)
	none.Close()
	f(t.Context(), "refused", none)

	stuck := newPaceServer(t, "204 No Content", 0) // never hears of the reload
	reloading := make(chan os.Signal, 1)
	hearReload(t, reloading)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-reloading; cancel(why) }() // it waits for the server by now
	f(ctx, why.Error(), stuck)
}

func TestPaceThatEndsIsToldAtClose(t *testing.T) {
	s := newPaceServer(t, "204 No Content", 3)
	conn, err := dialPace(t.Context(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p := &pacemaker{conn: conn, stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.run()
	<-p.stopped // after three keys
	if err := p.Close(); err == nil || s.fed.Load() != 4 {
		t.Errorf("got %v after %d keys, want an error at the 4th", err, s.fed.Load())
	}
}
