package http1

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Serve serves the connections of l until it is closed. l must handle errors that pass with time,
// such as a lack of descriptors, itself: Serve ends with any error of Accept.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		return nil
	}
	defer s.removeListener(l)
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.serveConn(c)
		case errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF):
			return nil
		default:
			return err //nolint:wrapcheck // it says where it comes from
		}
	}
}

// addListener adds l to the listeners, and reports whether it may be served.
func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// serveConn serves c in a goroutine of its own, which Shutdown waits for, or refuses it.
func (s *Server) serveConn(c net.Conn) {
	own := s.newConn(c)
	s.setState(own, http.StateNew)
	if s.open.Add(1) > int64(s.o.Connections) {
		s.open.Add(-1)
		s.rejected.Add(1)
		s.reject(own)
		return
	}
	if s.o.Place != nil {
		own.place = s.o.Place(c)
	}
	s.addConn(own)
	go func() {
		defer s.open.Add(-1)
		defer s.removeConn(own)
		own.serve()
	}()
}

func (s *Server) addConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

// removeConn removes c from the connections that Shutdown waits for.
func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// reject refuses c with a 503. A client of TLS gets no answer: that would have to wait for its handshake.
func (s *Server) reject(c *conn) {
	if _, secure := c.Conn.(interface{ Handshake() error }); !secure {
		const why = "too many connections\n"
		_, _ = io.WriteString(c.Conn, "HTTP/1.1 503 Service Unavailable\r\n"+closeLine+"Content-Type: text/plain\r\nContent-Length: "+
			strconv.Itoa(len(why))+"\r\n\r\n"+why)
	}
	_ = c.Close()
	s.setState(c, http.StateClosed)
}

// Rejected returns how many connections were refused for Options.Connections.
func (s *Server) Rejected() uint32 { return s.rejected.Load() }
