package admin

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// maxConnections bounds the open connections of one Server. Few clients have business here, and each connection takes a
// descriptor from the clients of the proxy.
const maxConnections = 128

// connections are the open ones of a Server. If there are more than maxConnections, it closes the one that has waited for a
// request for longest, so that connections which lie idle keep nobody out. It closes the new one only if all others have
// a request in progress. It is safe for concurrent use.
type connections struct {
	mu      sync.Mutex
	open    map[net.Conn]*list.Element // its place among those that wait; nil: a request is in progress
	waiting list.List                  // connections that wait (net.Conn), the one that has waited for longest at the front
}

func newConnections() *connections { return &connections{open: map[net.Conn]*list.Element{}} }

// state is http.Server's ConnState.
func (c *connections) state(conn net.Conn, s http.ConnState) {
	if out := c.change(conn, s); out != nil {
		_ = out.Close()
	}
}

// change notes the state of a connection, and returns the one to close, if there are too many.
func (c *connections) change(conn net.Conn, s http.ConnState) (out net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.open[conn]
	if !known && s != http.StateNew {
		return nil // it was closed to make room
	}
	if at != nil {
		c.waiting.Remove(at)
	}
	switch s {
	case http.StateNew:
		if len(c.open) >= maxConnections {
			first := c.waiting.Front()
			if first == nil {
				return conn
			}
			out = c.waiting.Remove(first).(net.Conn)
			delete(c.open, out)
		}
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	case http.StateHijacked, http.StateClosed:
		delete(c.open, conn)
	}
	return out
}
