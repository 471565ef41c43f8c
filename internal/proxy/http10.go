package proxy

import (
	"net"
)

// untilClose sends a body of unknown length to an HTTP/1.0 client, which knows
// no chunks: the end of the connection is the end of the body (RFC 9112 section
// 6.3). fasthttp would send chunks all the same, so the connection is taken over.
func (p *Proxy) untilClose(x *exchange, b *body) {
	head := append(x.block[:len(x.block)-len("\r\n")], "Connection: close\r\n\r\n"...)
	x.block = head
	p.takeOver(x, func(conn net.Conn) {
		defer func() { _ = b.Close() }()
		if p.WriteIdle > 0 {
			_ = conn.SetWriteDeadline(now().Add(p.WriteIdle))
		}
		if _, err := conn.Write(head); err != nil {
			return
		}
		if _, err := (&chunkedBody{b}).WriteTo(conn); err != nil {
			reset(x.ctx.Conn())
		}
	})
}

// reset makes the end of a broken body look like one: a plain close would tell
// the client that it has everything, and so would one of TLS (RFC 8446 section 6.1),
// below which the connection is therefore closed.
func reset(conn net.Conn) {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
		defer func() { _ = conn.Close() }()
	}
	if c, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
}
