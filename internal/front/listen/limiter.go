package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/route/client"
)

// The answers that a connection beyond a limit may get before it is closed.
const (
	refusal503  = "HTTP/1.1 503 Service Unavailable" + refusalEnd // beyond ConnLimits.Connections
	refusal429  = "HTTP/1.1 429 Too Many Requests" + refusalEnd   // beyond ConnLimits.PerAddress
	refusalEnd  = "\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	refusalWait = time.Second // bounds the write of such an answer, which waits for nobody: it fits into the send buffer of a new connection
)

// One in silentShare of ConnLimits.Connections, and at least silentLeast, is how many silent connections
// a network may have. Beyond that these are dropped before any other connection. The same shares of
// ConnLimits.PerAddress are for a client.
const (
	silentShare = 8
	silentLeast = 8
)

// ConnLimits are limits of open connections; 0 is none.
type ConnLimits struct {
	Connections int // bound of all clients together, on every listener
	PerAddress  int // bound of each client: one address, or a /64 of IPv6
}

// ConnLimiter bounds the open connections of clients, on all listeners that have it. At a limit a
// new connection takes the place of one that waits for a request. At PerAddress that is one of
// the same client. If many are silent, the oldest of them makes room: a client that wants something says so
// within a round trip. A new connection is refused where every other has a request under way.
// Clients without an address, behind a socket in the file system, count among all
// connections but have no limit of their own. It is safe for concurrent use; nil bounds
// nothing.
type ConnLimiter struct {
	limits              ConnLimits
	peers               *Peers
	idleTurns           atomic.Int64 // counts how often a connection began to wait for a request
	connTable           connTable
	refused             atomic.Int64
	refusedOfClient     atomic.Int64
	droppedIdle         atomic.Int64 // counts connections, as the next two do
	droppedIdleOfClient atomic.Int64
	droppedSilent       atomic.Int64

	mu      sync.Mutex
	all     connSet
	clients map[netip.Prefix]*connSet // where PerAddress is a limit
	silent  silentSet[*limitedConn]
}

// NewConnLimiter returns a ConnLimiter. Addresses are those that peers knows, else those of the
// connections; peers may be nil.
func NewConnLimiter(o ConnLimits, peers *Peers) *ConnLimiter {
	return &ConnLimiter{limits: o, peers: peers, connTable: newConnTable(o.Connections), clients: map[netip.Prefix]*connSet{}}
}

// Refused returns how many connections were refused so far: because there were too many,
// and because their client had too many.
func (c *ConnLimiter) Refused() (ofAll, ofOne int64) {
	return c.refused.Load(), c.refusedOfClient.Load()
}

// LetGo counts the connections that were ended to make room for others, by their state.
type LetGo struct {
	Idle         int64 // waiting for a request for longest of all
	IdleOfClient int64 // waiting for a request for longest of their client
	Silent       int64 // without any request yet, of a network or a client with too many such connections
}

// LetGo returns how many were let go so far.
func (c *ConnLimiter) LetGo() LetGo {
	return LetGo{Idle: c.droppedIdle.Load(), IdleOfClient: c.droppedIdleOfClient.Load(), Silent: c.droppedSilent.Load()}
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

// admit counts a new connection and reports whether it may stay. If not, it closes the
// connection, with tell after an answer. It waits for nobody.
func (c *ConnLimiter) admit(conn net.Conn, tell bool) bool {
	if c == nil {
		return true
	}
	m := &limitedConn{conn: conn, acceptedAt: time.Now()}
	m.tcp, _ = conn.(*net.TCPConn)
	m.client, m.known = client.Of(c.peers.address(conn))
	why, out := c.add(m)
	if out != nil {
		closeRead(out.conn)
	}
	switch why {
	case "":
		return true
	case refusal503:
		c.refused.Add(1)
	default:
		c.refusedOfClient.Add(1)
	}
	if tell {
		_ = conn.SetWriteDeadline(time.Now().Add(refusalWait))
		_, _ = conn.Write([]byte(why))
	}
	_ = conn.Close()
	return false
}

// add adds m, or returns the answer with which m is refused. It also returns the connection that it
// has dropped for m, if there was one.
func (c *ConnLimiter) add(m *limitedConn) (why string, out *limitedConn) {
	m.state.Store(c.idleTurns.Add(1))
	c.mu.Lock()
	defer c.mu.Unlock()
	m.place = c.silent.add(m.client, m)
	own := c.clientSet(m)
	switch {
	case own != nil && len(own.conns) >= c.limits.PerAddress:
		why, out = refusal429, c.makeRoomOfClient(m, own)
	case c.limits.Connections > 0 && len(c.all.conns) >= c.limits.Connections:
		why, out = refusal503, c.makeRoom(m)
	}
	if why != "" && out == nil {
		m.place.remove()
		return why, nil
	}
	if out != nil {
		c.drop(out)
	}
	c.all.add(m)
	if own != nil {
		c.clients[m.client] = own // drop may have deleted it
		own.add(m)
	}
	c.connTable.add(m)
	return "", out
}

// makeRoom drops a connection for m, which is in the set of silent ones already, and returns it; nil
// if none can be dropped.
func (c *ConnLimiter) makeRoom(m *limitedConn) *limitedConn {
	if out := c.dropSilent(c.limits.Connections, c.silent.chooseVictim); out != nil {
		return out
	}
	out := c.all.dropLongestIdle(m.acceptedAt)
	if out != nil {
		c.droppedIdle.Add(1)
	}
	return out
}

// makeRoomOfClient is makeRoom among the connections of m's client, which are own.
func (c *ConnLimiter) makeRoomOfClient(m *limitedConn, own *connSet) *limitedConn {
	if out := c.dropSilent(c.limits.PerAddress, m.place.oldestOfClient); out != nil {
		return out
	}
	out := own.dropLongestIdle(m.acceptedAt)
	if out != nil {
		c.droppedIdleOfClient.Add(1)
	}
	return out
}

// dropSilent drops the silent connection that choose returns, and returns it; nil if there are not so many as a flood has, by the
// limit that was reached.
func (c *ConnLimiter) dropSilent(limit int, choose func() (oldest *silentEntry[*limitedConn], n int)) *limitedConn {
	p, n := choose()
	if n <= max(silentLeast, limit/silentShare) || !p.value.dropIfIdle(p.value.state.Load()) {
		return nil
	}
	c.droppedSilent.Add(1)
	return p.value
}

// letIdleGo drops the connection that has waited for a request for longest, and reports whether there was one. It is for
// when descriptors run out before the limit.
func (c *ConnLimiter) letIdleGo() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	out := c.all.dropLongestIdle(time.Now())
	if out != nil {
		c.droppedIdle.Add(1)
		c.drop(out)
	}
	c.mu.Unlock()
	if out == nil {
		return false
	}
	closeRead(out.conn)
	return true
}

// clientSet returns the set of the connections of m's client; nil if no limit concerns them.
func (c *ConnLimiter) clientSet(m *limitedConn) *connSet {
	if !m.known || c.limits.PerAddress == 0 {
		return nil
	}
	if own := c.clients[m.client]; own != nil {
		return own
	}
	return &connSet{kind: ofClient}
}

// drop removes m from all that is counted. The caller holds the mutex.
func (c *ConnLimiter) drop(m *limitedConn) {
	m.place.remove()
	c.all.remove(m)
	if own := c.clients[m.client]; own != nil && m.known {
		if own.remove(m); len(own.conns) == 0 {
			delete(c.clients, m.client)
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
	was := m.state.Swap(dropped)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connTable.remove(m)
	if was != dropped { // otherwise add has removed it already
		c.drop(m)
	}
}

// Place tells a ConnLimiter of the requests of one connection. One goroutine at a time uses it.
type Place struct {
	c *ConnLimiter
	m *limitedConn
}

// Place returns the Place of a connection that a listener has accepted; nil if the connection is not counted. A server that
// keeps it saves a look-up of the connection at each request.
func (c *ConnLimiter) Place(conn net.Conn) *Place {
	if m := c.find(conn); m != nil {
		return &Place{c, m}
	}
	return nil
}

// Busy does what ConnLimiter.Busy does.
func (p *Place) Busy() { p.c.busy(p.m) }

// Idle does what ConnLimiter.Idle does.
func (p *Place) Idle() { p.c.setIdle(p.m) }

// Busy is to be called by the server of a connection when the first byte of a request has
// come. It allocates nothing, and takes a mutex only at the first request.
func (c *ConnLimiter) Busy(conn net.Conn) {
	if m := c.find(conn); m != nil {
		c.busy(m)
	}
}

func (c *ConnLimiter) busy(m *limitedConn) {
	if since := m.state.Load(); since != dropped {
		m.state.CompareAndSwap(since, busy) // if it fails, m was dropped just now
	}
	if !m.hasRequest {
		m.hasRequest = true
		c.mu.Lock()
		m.place.remove()
		c.mu.Unlock()
	}
}

// Idle is to be called by the server of a connection when the answer is sent and the next
// request may come. It closes a connection that was let go meanwhile. It allocates nothing
// and takes no mutex.
func (c *ConnLimiter) Idle(conn net.Conn) {
	if m := c.find(conn); m != nil {
		c.setIdle(m)
	}
}

func (c *ConnLimiter) setIdle(m *limitedConn) {
	if !m.state.CompareAndSwap(busy, c.idleTurns.Add(1)) && m.state.Load() == dropped {
		_ = m.conn.Close()
	}
}

func (c *ConnLimiter) find(conn net.Conn) *limitedConn {
	if c == nil {
		return nil
	}
	return c.connTable.find(conn)
}
