package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/route/client"
)

// Peers knows the clients' addresses of connections that load balancers pass on by the PROXY
// protocol. It is safe for concurrent use; nil knows of none, and so does the zero Peers.
type Peers struct {
	told sync.Map // addresses told (netip.Addr), under the net.Conn that was handed on
	cut  atomic.Int64
}

// Of returns the client's address that was told of conn, or of the connection that conn
// encrypts. It is the zero Addr for a client behind a socket in the file system. With told
// false nothing was told, and the address is the connection's own. A connection within the
// process has a method Peer, which is asked: it has noted the address, and may outlast the
// client's own connection, of which nothing is known after Forget. Of allocates nothing and
// takes no mutex.
func (p *Peers) Of(conn net.Conn) (client netip.Addr, told bool) {
	if p == nil {
		return netip.Addr{}, false
	}
	v, told := p.told.Load(conn)
	if told {
		return v.(netip.Addr), true
	}
	if c, ok := conn.(interface{ Peer() (netip.Addr, bool) }); ok {
		return c.Peer()
	}
	if v, told = p.told.Load(bare(conn)); !told {
		return netip.Addr{}, false
	}
	return v.(netip.Addr), true
}

// Forget is to be called for each connection that a listener has handed on, when it is
// closed, after Leave of its ConnLimiter.
func (p *Peers) Forget(conn net.Conn) {
	if p != nil {
		p.told.Delete(bare(conn))
	}
}

// Cut returns how many connections without their header were closed for others.
func (p *Peers) Cut() int64 {
	if p == nil {
		return 0
	}
	return p.cut.Load()
}

// address returns the client's address, from the PROXY header or else from the connection; the zero Addr if
// there is none.
func (p *Peers) address(conn net.Conn) netip.Addr {
	if client, told := p.Of(conn); told {
		return client
	}
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// Client returns the client whose connection conn is; false where it has no address.
func (p *Peers) Client(conn net.Conn) (c netip.Prefix, ok bool) { return client.Of(p.address(conn)) }

// bare returns the connection that a listener of this room has handed on, which TLS may
// have wrapped.
func bare(conn net.Conn) net.Conn {
	for {
		wrapped, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = wrapped.NetConn()
	}
}
