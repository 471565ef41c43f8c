package http2

import (
	"context"
	"net"
	"sync"
	"time"
)

// Server serves connections whose clients have chosen HTTP/2. It is safe for concurrent use.
// It must be closed.
type Server struct {
	o       Options
	block   []byte // the SETTINGS that each connection begins with
	closing chan struct{}
	conns   sync.WaitGroup // counts connections, and the sweeper
	work    sync.WaitGroup // counts requests

	mu        sync.Mutex
	open      map[*conn]struct{}
	listeners map[net.Listener]struct{}
	leaving   bool // no connection is accepted any more
	closed    bool
	empty     chan struct{} // closed when leaving and open is empty
}

// NewServer returns a Server, which runs until Close.
func NewServer(o Options) *Server {
	s := &Server{o: o, closing: make(chan struct{}), open: map[*conn]struct{}{}, listeners: map[net.Listener]struct{}{}, empty: make(chan struct{})}
	s.block = preamble(o)
	s.conns.Go(s.sweep)
	return s
}

// Serve serves the connections of ln, until that is closed or the Server is. It returns why it
// has ended: net.ErrClosed after Shutdown or Close. The connections go on.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.leaving {
		s.mu.Unlock()
		_ = ln.Close()
		return net.ErrClosed
	}
	s.listeners[ln] = struct{}{}
	s.mu.Unlock()
	for {
		nc, err := ln.Accept()
		if err != nil {
			s.mu.Lock()
			delete(s.listeners, ln)
			if s.leaving {
				err = net.ErrClosed
			}
			s.mu.Unlock()
			return err
		}
		s.serveConn(nc)
	}
}

// serveConn serves a connection in a goroutine of its own.
func (s *Server) serveConn(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.leaving {
		s.mu.Unlock()
		c.refuse()
		return
	}
	s.open[c] = struct{}{}
	s.conns.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.conns.Done()
		defer s.forget(c)
		defer c.kill() // closes it also after a panic; otherwise it is closed already
		s.o.Panics.Quietly(c.serve)
	}()
}

// forget forgets a connection that has ended.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	s.emptyLocked()
}

// emptyLocked tells Shutdown that nobody is connected any more.
func (s *Server) emptyLocked() {
	if !s.leaving || len(s.open) > 0 {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}

// all returns the open connections.
func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*conn, 0, len(s.open))
	for c := range s.open {
		out = append(out, c)
	}
	return out
}

// stopAccepting accepts no more connections, and returns those that are open.
func (s *Server) stopAccepting() []*conn {
	s.mu.Lock()
	s.leaving = true
	listeners := s.listeners
	s.listeners = map[net.Listener]struct{}{}
	s.emptyLocked()
	s.mu.Unlock()
	for ln := range listeners {
		_ = ln.Close()
	}
	return s.all()
}

// Warn asks all clients to open no more streams, and accepts connections as before.
func (s *Server) Warn() {
	for _, c := range s.all() {
		c.shutdown()
	}
}

// Shutdown closes the listeners and asks all clients to open no more streams (RFC 9113 section
// 6.8). It returns when all requests have ended, or with the error of ctx; then Close ends
// what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.stopAccepting() {
		c.shutdown()
	}
	select {
	case <-s.empty:
	case <-ctx.Done():
		return ctx.Err()
	}
	over := make(chan struct{})
	go func() { // ends with the requests at the latest
		s.work.Wait()
		close(over)
	}()
	select {
	case <-over:
		return s.Close()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends all connections, and waits for that. The clients of requests that are worked on
// have left then; these requests end by themselves.
func (s *Server) Close() error {
	for _, c := range s.stopAccepting() {
		c.kill()
	}
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.closing)
	}
	s.conns.Wait()
	return nil
}

// sweep looks after all connections now and then.
func (s *Server) sweep() {
	o := &s.o
	gap := min(o.WriteIdleTimeout, o.KeepaliveTimeout, o.HeaderTimeout)
	if o.SendRate.Bytes > 0 {
		gap = min(gap, o.SendRate.Over)
	}
	tick := time.NewTicker(min(max(gap/8, 5*time.Millisecond), time.Second))
	defer tick.Stop()
	last := now()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
			t := now()
			for _, c := range s.all() {
				o.Panics.Quietly(func() { c.check(t, t.Sub(last)) })
			}
			last = t
		}
	}
}
