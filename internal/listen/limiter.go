package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/client"
)

// The answers that a connection beyond a limit may get before it is closed.
const (
	refusal      = "HTTP/1.1 503 Service Unavailable" + refusalEnd // beyond ConnLimits.Connections
	refusalOfOne = "HTTP/1.1 429 Too Many Requests" + refusalEnd   // beyond ConnLimits.PerClient
	refusalEnd   = "\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	refusalWait  = 10 * time.Millisecond // bounds the write of it: a fresh connection has room for so little
)

// A network may have this share of ConnLimits.Connections, and at least silentLeast, that
// have said nothing yet; beyond it those go before any other.
const (
	silentShare = 8
	silentLeast = 8
)

// ConnLimits are limits of open connections; 0 is none.
type ConnLimits struct {
	Connections int // of all clients together, on every listener
	PerClient   int // of each client: one address, or a /64 of IPv6
}

// ConnLimiter bounds the open connections of clients, on all listeners that have it. At a limit a
// new connection takes the place of one that waits for a request. At PerClient that is one of
// the same client. A new connection is refused where every other has a request under way.
// Clients without an address, behind a socket in the file system, count among all
// connections but have no limit of their own. It is safe for concurrent use; nil bounds
// nothing.
type ConnLimiter struct {
	limits       ConnLimits
	peers        *Peers
	turns        atomic.Int64 // how often a connection began to wait for a request
	connTable    connTable
	refused      atomic.Int64
	refusedOfOne atomic.Int64
	idle         atomic.Int64 // let go, as are the next two
	idleOfOne    atomic.Int64
	silenced     atomic.Int64

	mu      sync.Mutex
	all     connSet
	clients map[netip.Prefix]*connSet // where PerClient is a limit
	silent  silent[*limitedConn]
}

// NewConnLimiter returns a ConnLimiter. Addresses are those that peers knows, else those of the
// connections; peers may be nil.
func NewConnLimiter(o ConnLimits, peers *Peers) *ConnLimiter {
	return &ConnLimiter{limits: o, peers: peers, connTable: newConnTable(o.Connections), clients: map[netip.Prefix]*connSet{}}
}

// Refused returns how many connections were refused so far: because there were too many,
// and because their client had too many.
func (c *ConnLimiter) Refused() (ofAll, ofOne int64) { return c.refused.Load(), c.refusedOfOne.Load() }

// LetGo counts the connections that were ended to make room for others, by their state.
type LetGo struct {
	Idle         int64 // waiting for a request for longest of all
	IdleOfClient int64 // of their client
	Silent       int64 // without any request yet, in a network with too many such connections
}

// LetGo returns how many were let go so far.
func (c *ConnLimiter) LetGo() LetGo {
	return LetGo{Idle: c.idle.Load(), IdleOfClient: c.idleOfOne.Load(), Silent: c.silenced.Load()}
}

// Waiting returns how many connections wait for a request. It looks at all of them.
func (c *ConnLimiter) Waiting() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.all.conns {
		if m.state.Load() > busy {
			n++
		}
	}
	return n
}

// enter counts a new connection and reports whether it may stay. One that may not is
// closed, and told why where tell says so. It waits for nobody.
func (c *ConnLimiter) enter(conn net.Conn, tell bool) bool {
	if c == nil {
		return true
	}
	m := &limitedConn{conn: conn, came: time.Now()}
	m.tcp, _ = conn.(*net.TCPConn)
	m.who, m.known = client.Of(c.peers.address(conn))
	why, out := c.add(m)
	if out != nil {
		hangUp(out.conn)
	}
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

// add takes m in, or returns what it is told when it is refused. It also returns the connection
// that was let go for m, if there was one.
func (c *ConnLimiter) add(m *limitedConn) (why string, out *limitedConn) {
	m.state.Store(c.turns.Add(1))
	c.mu.Lock()
	defer c.mu.Unlock()
	m.place = c.silent.add(m.who, m)
	own := c.own(m)
	switch {
	case own != nil && len(own.conns) >= c.limits.PerClient:
		why, out = refusalOfOne, own.longestIdle(m.came)
		if out != nil {
			c.idleOfOne.Add(1)
		}
	case c.limits.Connections > 0 && len(c.all.conns) >= c.limits.Connections:
		why, out = refusal, c.makeRoom(m)
	}
	if why != "" && out == nil {
		m.place.leave()
		return why, nil
	}
	if out != nil {
		c.drop(out)
	}
	c.all.add(m)
	if own != nil {
		c.clients[m.who] = own // also where its last was struck out
		own.add(m)
	}
	c.connTable.add(m)
	return "", out
}

// makeRoom lets go of a connection for m, which is among the silent already, and returns it; nil
// where there is none to let go.
func (c *ConnLimiter) makeRoom(m *limitedConn) *limitedConn {
	p, n := c.silent.choose()
	flood := n > max(silentLeast, c.limits.Connections/silentShare)
	switch {
	case flood && p.value == m:
		return nil
	case flood && p.value.letGo(p.value.state.Load()):
		c.silenced.Add(1)
		return p.value
	}
	out := c.all.longestIdle(m.came)
	if out != nil {
		c.idle.Add(1)
	}
	return out
}

// own returns what m's client has; nil where that does not matter.
func (c *ConnLimiter) own(m *limitedConn) *connSet {
	if !m.known || c.limits.PerClient == 0 {
		return nil
	}
	if own := c.clients[m.who]; own != nil {
		return own
	}
	return &connSet{kind: ofClient}
}

// drop takes m out of what is counted. The caller has the mutex.
func (c *ConnLimiter) drop(m *limitedConn) {
	m.place.leave()
	c.all.remove(m)
	if own := c.clients[m.who]; own != nil && m.known {
		if own.remove(m); len(own.conns) == 0 {
			delete(c.clients, m.who)
		}
	}
}

// Leave is to be called once for each connection that a listener has handed on, when it
// is closed.
func (c *ConnLimiter) Leave(conn net.Conn) {
	if c == nil {
		return
	}
	m := c.connTable.find(conn)
	if m == nil {
		return
	}
	was := m.state.Swap(gone)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connTable.remove(m)
	if was != gone { // else it was counted out when it was let go
		c.drop(m)
	}
}

// Place is what a ConnLimiter hears of one connection, from one goroutine at a time.
type Place struct {
	c *ConnLimiter
	m *limitedConn
}

// Place returns that of a connection that a listener has handed on; nil where nobody counts it. A server that keeps it
// need not look for the connection at each request.
func (c *ConnLimiter) Place(conn net.Conn) *Place {
	if m := c.find(conn); m != nil {
		return &Place{c, m}
	}
	return nil
}

// Busy does what ConnLimiter.Busy does.
func (p *Place) Busy() { p.c.busy(p.m) }

// Idle does what ConnLimiter.Idle does.
func (p *Place) Idle() { p.c.waits(p.m) }

// Busy is to be called by the server of a connection when the first byte of a request has
// come. It allocates nothing, and takes a mutex only at the first request.
func (c *ConnLimiter) Busy(conn net.Conn) {
	if m := c.find(conn); m != nil {
		c.busy(m)
	}
}

func (c *ConnLimiter) busy(m *limitedConn) {
	if since := m.state.Load(); since != gone {
		m.state.CompareAndSwap(since, busy) // else it was let go just now
	}
	if !m.spoken {
		m.spoken = true
		c.mu.Lock()
		m.place.leave()
		c.mu.Unlock()
	}
}

// Idle is to be called by the server of a connection when the answer is sent and the next
// request may come. It closes a connection that was let go meanwhile. It allocates nothing
// and takes no mutex.
func (c *ConnLimiter) Idle(conn net.Conn) {
	if m := c.find(conn); m != nil {
		c.waits(m)
	}
}

func (c *ConnLimiter) waits(m *limitedConn) {
	if !m.state.CompareAndSwap(busy, c.turns.Add(1)) && m.state.Load() == gone {
		_ = m.conn.Close()
	}
}

func (c *ConnLimiter) find(conn net.Conn) *limitedConn {
	if c == nil {
		return nil
	}
	return c.connTable.find(conn)
}
