package origin

import "net"

// frameHeadBytes is the length of a frame's header. The first three of its bytes are the length of the payload (RFC 9113 section 4.1).
const frameHeadBytes = 9

// prefaceConn is a connection that calls onPreface once its reader has processed the first frame. That is the server's
// connection preface (RFC 9113 section 3.4), which says how many requests it takes at a time.
type prefaceConn struct {
	net.Conn
	onPreface func() // nil: it was called

	head [frameHeadBytes]byte
	got  int // bytes
}

// Read is for one goroutine.
func (g *prefaceConn) Read(p []byte) (int, error) {
	if g.onPreface == nil {
		return g.Conn.Read(p)
	}
	if g.whole() { // the reader has processed it, as it asks for more
		g.onPreface()
		g.onPreface = nil
	}
	n, err := g.Conn.Read(p)
	if g.got < len(g.head) {
		copy(g.head[g.got:], p[:n])
	}
	g.got += n
	return n, err
}

// whole reports whether the first frame was read.
func (g *prefaceConn) whole() bool {
	length := int(g.head[0])<<16 | int(g.head[1])<<8 | int(g.head[2])
	return g.got >= len(g.head)+length
}
