package bridge

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
)

// client is the connection that a client came in by.
type client struct {
	conn net.Conn // under TLS
	peer netip.Addr
	told bool // peer stands for the connection's own address
}

func newClient(c net.Conn, peer func(net.Conn) (netip.Addr, bool)) *client {
	out := &client{conn: c}
	if secure, ok := c.(*tls.Conn); ok {
		out.conn = secure.NetConn()
	}
	if peer != nil {
		out.peer, out.told = peer(c)
	}
	return out
}

// conn is the server's end of one request's connection. It says that it is of the
// client's address and of TLS, as the one it came in by.
type conn struct {
	net.Conn
	client *client
	state  *tls.ConnectionState
	ctx    context.Context // ends with the client's interest in the request
	other  *end
	begun  bool // something was read
}

// end is the other end of it.
type end struct {
	net.Conn
	taken atomic.Int64
}

// Read implements net.Conn.
func (e *end) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	e.taken.Add(int64(n))
	return n, err
}

// Taken returns how many bytes of what the server has written were taken, which is at the
// pace of the client but for some that are kept ready for it.
func (c *conn) Taken() int64 { return c.other.taken.Load() }

// Read implements net.Conn. An end within the one request that the connection is for is no
// end of it: the stream was broken off. A pipe would tell of it as of one, also where a
// deadline has passed, by which a server asks whether there is more to wait for.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.begun = c.begun || n > 0
	if c.begun && err == io.EOF { //nolint:errorlint // net.Pipe's own
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (c *conn) LocalAddr() net.Addr  { return c.client.conn.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr { return c.client.conn.RemoteAddr() }

// NetConn returns the connection that the client came in by, under TLS.
func (c *conn) NetConn() net.Conn { return c.client.conn }

// Peer is what Options.Peer told of the client's connection.
func (c *conn) Peer() (client netip.Addr, told bool) { return c.client.peer, c.client.told }

// Handshake is what tells a server that this is TLS; it was done long ago.
func (c *conn) Handshake() error { return nil }

// ConnectionState is that of the client's connection.
func (c *conn) ConnectionState() tls.ConnectionState { return *c.state }

// OnLeave calls f, in a goroutine of its own, once the client has reset the stream or its
// connection has ended. Until then stop keeps it from that.
func (c *conn) OnLeave(f func()) (stop func() bool) { return context.AfterFunc(c.ctx, f) }

// dial hands the server's end of a connection for one request of a client over, and
// returns the other end; nil if nobody takes it. ctx is that of the request.
func dial(ctx context.Context, put func(net.Conn) bool, of *client, state *tls.ConnectionState) net.Conn {
	client, server := net.Pipe()
	other := &end{Conn: client}
	if put(&conn{Conn: server, client: of, state: state, ctx: ctx, other: other}) {
		return other
	}
	_, _ = client.Close(), server.Close()
	return nil
}

// Inside reports whether c is the connection of one request of HTTP/2, and no client's.
func Inside(c net.Conn) bool {
	_, inside := c.(*conn)
	return inside
}
