package bridge

import (
	"crypto/tls"
	"net"
)

// conn is the server's end of one request's connection. It says that it is of the
// client's address and of TLS, as the one it came in by.
type conn struct {
	net.Conn
	client net.Conn
	state  *tls.ConnectionState
}

func (c *conn) LocalAddr() net.Addr  { return c.client.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr { return c.client.RemoteAddr() }

// NetConn returns the connection that the client came in by, under TLS.
func (c *conn) NetConn() net.Conn { return c.client }

// Handshake is what tells a server that this is TLS; it was done long ago.
func (c *conn) Handshake() error { return nil }

// ConnectionState is that of the client's connection.
func (c *conn) ConnectionState() tls.ConnectionState { return *c.state }

// dial hands the server's end of a connection for one request of a client over, and
// returns the other end; nil if nobody takes it.
func dial(put func(net.Conn) bool, client net.Conn, state *tls.ConnectionState) net.Conn {
	if secure, ok := client.(*tls.Conn); ok {
		client = secure.NetConn()
	}
	end, server := net.Pipe()
	if put(&conn{Conn: server, client: client, state: state}) {
		return end
	}
	_, _ = end.Close(), server.Close()
	return nil
}

// Inside reports whether c is the connection of one request of HTTP/2, and no client's.
func Inside(c net.Conn) bool {
	_, inside := c.(*conn)
	return inside
}
