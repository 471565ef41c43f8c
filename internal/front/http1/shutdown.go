package http1

import (
	"context"
	"net"
	"time"
)

// closePause is the time between two looks at what is still open.
const closePause = 20 * time.Millisecond

// silentGrace is for how long a new connection may be without a request when Shutdown is called.
const silentGrace = 5 * time.Second

// Shutdown closes the listeners, and returns when all requests under way are answered or ctx has
// ended. Connections that were handed over are not waited for.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	err := s.closeListeners()
	ticker := time.NewTicker(closePause)
	defer ticker.Stop()
	for !s.closeWaiting() {
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // it says what it is
		case <-ticker.C:
		}
	}
	return err
}

func (s *Server) closeListeners() (failed error) {
	s.mu.Lock()
	all := make([]net.Listener, 0, len(s.listeners))
	for l := range s.listeners {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		if err := l.Close(); failed == nil {
			failed = err
		}
	}
	return failed
}

// closeWaiting closes the connections that wait for a request, and reports whether nothing is
// left.
func (s *Server) closeWaiting() bool {
	s.mu.Lock()
	var waits []*conn
	for c := range s.conns {
		if c.phase.Load() == waiting && (c.hasRequest.Load() || s.clock()-c.acceptedAt >= int64(silentGrace)) && c.phase.CompareAndSwap(waiting, closed) {
			waits = append(waits, c)
		}
	}
	left := len(s.conns) + len(s.listeners)
	s.mu.Unlock()
	for _, c := range waits {
		_ = c.Conn.Close()
	}
	return left == 0
}
