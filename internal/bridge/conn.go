package bridge

import (
	"crypto/tls"
	"net"
	"sync"
)

// conn is the server's end of one request's connection. It says that it is of the
// client's address and of TLS, as the one it came in by.
type conn struct {
	net.Conn
	local  net.Addr
	client net.Conn
	state  *tls.ConnectionState
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.client.RemoteAddr() }

// NetConn returns the connection that the client came in by, under TLS.
func (c *conn) NetConn() net.Conn { return c.client }

// Handshake is what tells a server that this is TLS; it was done long ago.
func (c *conn) Handshake() error { return nil }

// ConnectionState is that of the client's connection.
func (c *conn) ConnectionState() tls.ConnectionState { return *c.state }

// Listener gives the connections of the requests. It is safe for concurrent use.
type Listener struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener returns a Listener that says it is at addr.
func NewListener(addr net.Addr) *Listener {
	return &Listener{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// dial returns the client's end of a connection for one request; nil when the listener
// is closed.
func (l *Listener) dial(from net.Conn, state *tls.ConnectionState) net.Conn {
	if secure, ok := from.(*tls.Conn); ok {
		from = secure.NetConn()
	}
	client, server := net.Pipe()
	select {
	case l.conns <- &conn{Conn: server, local: l.addr, client: from, state: state}:
		return client
	case <-l.closed:
		_, _ = client.Close(), server.Close()
		return nil
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }

// Inside reports whether c is the connection of one request of HTTP/2, and no client's.
func Inside(c net.Conn) bool {
	_, inside := c.(*conn)
	return inside
}
