package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/client"
)

// What a connection beyond a limit is told before it is closed, if it is told.
const (
	refusal      = "HTTP/1.1 503 Service Unavailable" + refusalEnd // beyond CrowdOptions.Connections
	refusalOfOne = "HTTP/1.1 429 Too Many Requests" + refusalEnd   // beyond CrowdOptions.PerClient
	refusalEnd   = "\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	refusalWait  = 10 * time.Millisecond // bounds the write of it: a fresh connection has room for so little
)

// CrowdOptions are limits of open connections; 0 is none.
type CrowdOptions struct {
	Connections int // of all clients together, on every listener
	PerClient   int // of each client: one address, or a /64 of IPv6
}

// Crowd bounds the open connections of clients, on all listeners that have it. Clients
// without an address, behind a socket in the file system, are counted among all, not one
// by one. It is safe for concurrent use; nil bounds nothing.
type Crowd struct {
	limits       CrowdOptions
	peers        *Peers
	refused      atomic.Int64
	refusedOfOne atomic.Int64

	mu   sync.Mutex
	all  int
	open map[netip.Prefix]int
}

// NewCrowd returns a Crowd. Addresses are those that peers knows, else those of the
// connections; peers may be nil.
func NewCrowd(o CrowdOptions, peers *Peers) *Crowd {
	return &Crowd{limits: o, peers: peers, open: map[netip.Prefix]int{}}
}

// Refused returns how many connections were refused so far: because there were too many,
// and because their client had too many.
func (c *Crowd) Refused() (ofAll, ofOne int64) { return c.refused.Load(), c.refusedOfOne.Load() }

// enter counts a new connection and reports whether it may stay. One that may not is
// closed, and told why where tell says so.
func (c *Crowd) enter(conn net.Conn, tell bool) bool {
	if c == nil {
		return true
	}
	why := c.add(client.Of(c.peers.address(conn)))
	switch why {
	case "":
		return true
	case refusal:
		c.refused.Add(1)
	default:
		c.refusedOfOne.Add(1)
	}
	if tell {
		_ = conn.SetWriteDeadline(time.Now().Add(refusalWait))
		_, _ = conn.Write([]byte(why))
	}
	_ = conn.Close()
	return false
}

// add counts a connection of the client who, or returns what it is told.
func (c *Crowd) add(who netip.Prefix, known bool) (why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known = known && c.limits.PerClient > 0
	switch {
	case c.limits.Connections > 0 && c.all >= c.limits.Connections:
		return refusal
	case known && c.open[who] >= c.limits.PerClient:
		return refusalOfOne
	case known:
		c.open[who]++
	}
	c.all++
	return ""
}

// Leave is to be called once for each connection that a listener has handed on, when it
// is closed.
func (c *Crowd) Leave(conn net.Conn) {
	if c == nil {
		return
	}
	who, known := client.Of(c.peers.address(conn))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if !known || c.limits.PerClient == 0 {
		return
	}
	if c.open[who]--; c.open[who] <= 0 {
		delete(c.open, who)
	}
}
