package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// ipv6Site is the length of the prefix that is one client: whoever has an IPv6 address
// as a rule has all of its /64.
const ipv6Site = 64

const (
	// refusal is what a connection beyond the limit is told before it is closed.
	refusal = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	// refusalWait bounds the write of it. A fresh connection has room for so little.
	refusalWait = 10 * time.Millisecond
)

// Crowd bounds the open connections of each client address, of an IPv6 one with its
// /64. Clients without an address, behind a socket in the file system, are not counted.
// It is safe for concurrent use; nil bounds nothing.
type Crowd struct {
	limit   int
	peers   *Peers
	refused atomic.Int64

	mu   sync.Mutex
	open map[netip.Prefix]int
}

// NewCrowd returns a Crowd that lets each address have limit connections, which is at
// least 1. Addresses are those that peers knows, else those of the connections; peers may
// be nil.
func NewCrowd(limit int, peers *Peers) *Crowd {
	return &Crowd{limit: limit, peers: peers, open: map[netip.Prefix]int{}}
}

// Refused returns how many connections were refused so far.
func (c *Crowd) Refused() int64 { return c.refused.Load() }

// enter counts a new connection and reports whether it may stay; one that may not is
// told so and closed.
func (c *Crowd) enter(conn net.Conn) bool {
	if c == nil {
		return true
	}
	client, ok := clientOf(c.peers.address(conn))
	if !ok || c.add(client) {
		return true
	}
	c.refused.Add(1)
	_ = conn.SetWriteDeadline(time.Now().Add(refusalWait))
	_, _ = conn.Write([]byte(refusal))
	_ = conn.Close()
	return false
}

func (c *Crowd) add(client netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client] >= c.limit {
		return false
	}
	c.open[client]++
	return true
}

// Leave is to be called once for each connection that a listener has handed on, when it
// is closed.
func (c *Crowd) Leave(conn net.Conn) {
	if c == nil {
		return
	}
	client, ok := clientOf(c.peers.address(conn))
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client]--; c.open[client] <= 0 {
		delete(c.open, client)
	}
}

// clientOf returns the client that has addr; ok is false for the zero Addr.
func clientOf(addr netip.Addr) (client netip.Prefix, ok bool) {
	bits := 32
	if addr.Is6() {
		bits = ipv6Site
	}
	client, err := addr.Prefix(bits)
	return client, err == nil && addr.IsValid()
}
