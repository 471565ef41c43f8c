package origin

import "net"

// frameHeadBytes is the length of what a frame begins with, of which its length is the first three (RFC 9113 section 4.1).
const frameHeadBytes = 9

// greeting is a connection that is heard of once its reader has dealt with the first frame, in which a server says how many
// requests it takes at a time (RFC 9113 section 3.4). Until then nobody knows.
type greeting struct {
	net.Conn
	heard func() // nil: it has been called

	head [frameHeadBytes]byte
	got  int // bytes
}

// Read is for one goroutine.
func (g *greeting) Read(p []byte) (int, error) {
	if g.heard == nil {
		return g.Conn.Read(p)
	}
	if g.whole() { // and the reader asks for what comes behind it
		g.heard()
		g.heard = nil
	}
	n, err := g.Conn.Read(p)
	if g.got < len(g.head) {
		copy(g.head[g.got:], p[:n])
	}
	g.got += n
	return n, err
}

// whole reports whether the first frame was read.
func (g *greeting) whole() bool {
	length := int(g.head[0])<<16 | int(g.head[1])<<8 | int(g.head[2])
	return g.got >= len(g.head)+length
}
