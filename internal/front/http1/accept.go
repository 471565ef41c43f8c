package http1

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Serve serves the connections of l until it is closed. What waiting can mend, such as a lack of
// descriptors, l does not return.
func (s *Server) Serve(l net.Listener) error {
	if !s.listens(l) {
		return nil
	}
	defer s.unlisten(l)
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.welcome(c)
		case errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF):
			return nil
		default:
			return err //nolint:wrapcheck // it says where it comes from
		}
	}
}

// listens notes l, and reports whether it may be served.
func (s *Server) listens(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) unlisten(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// welcome serves c in a goroutine of its own, which Shutdown waits for, or refuses it.
func (s *Server) welcome(c net.Conn) {
	own := s.own(c)
	s.is(own, http.StateNew)
	if s.open.Add(1) > int64(s.o.Connections) {
		s.open.Add(-1)
		s.rejected.Add(1)
		s.reject(own)
		return
	}
	if s.o.Place != nil {
		own.place = s.o.Place(c)
	}
	s.enter(own)
	go func() {
		defer s.open.Add(-1)
		defer s.leave(own)
		own.serve()
	}()
}

func (s *Server) enter(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

// leave has Shutdown not wait for c any more.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// reject refuses c. A client of TLS is told nothing: that might wait for its handshake.
func (s *Server) reject(c *conn) {
	if _, secure := c.Conn.(interface{ Handshake() error }); !secure {
		const why = "too many connections\n"
		_, _ = io.WriteString(c.Conn, "HTTP/1.1 503 Service Unavailable\r\n"+closeLine+"Content-Type: text/plain\r\nContent-Length: "+
			strconv.Itoa(len(why))+"\r\n\r\n"+why)
	}
	_ = c.Close()
	s.is(c, http.StateClosed)
}

// Rejected returns how many connections were refused for Options.Connections.
func (s *Server) Rejected() uint32 { return s.rejected.Load() }
