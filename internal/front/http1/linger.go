package http1

import (
	"net"
	"net/http"
	"time"
)

// The limits of lingering are those that nginx has by default.
const (
	lingerTime = 30 * time.Second // in all
	lingerIdle = 5 * time.Second  // without a byte
)

// unread reports whether the client may still send bytes of the request when its answer is sent.
func (t *turn) unread() bool {
	if f := t.request.Fault; f != nil {
		return !f.TimedOut // then nothing came for long
	}
	if t.ctx == nil {
		return t.request.Body != nil && !t.upload.whole()
	}
	return t.request.Body != nil && !t.body.whole()
}

// whole reports whether all of the body was read.
func (b *body) whole() bool { return b.end != nil || b.read == b.length }

// Close implements net.Conn. Only the goroutine that serves c may call it. If the request behind the last answer
// was not read whole, Close lingers first. A connection that was handed over never lingers: its answer may have to end
// with a reset.
func (c *conn) Close() error {
	if c.phase.Load() == working && c.unread {
		c.linger()
	}
	return c.Conn.Close() //nolint:wrapcheck // fasthttp looks at it
}

// linger ends the answers to the client (FIN), and reads what the client still sends (RFC 9112 section 9.6). A connection that is
// closed with bytes unread is reset, and the reset may take the answer from the client. Meanwhile c is as good as idle, so
// Shutdown and a limit on connections close it.
func (c *conn) linger() {
	if !c.phase.CompareAndSwap(working, waiting) {
		return
	}
	below, ok := closeWrite(c.Conn)
	if !ok {
		return
	}
	c.server.setState(c, http.StateIdle)
	b := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(b)
	for end := now().Add(lingerTime); !c.server.stopping.Load(); {
		until := now().Add(lingerIdle)
		if until.After(end) {
			until = end
		}
		if below.SetReadDeadline(until) != nil {
			return
		}
		if _, err := below.Read(b[:]); err != nil {
			return
		}
	}
}

// closeWrite says on all layers of a connection that no more will be sent, and returns the lowest of them. It reports
// whether there is one that can say so.
func closeWrite(conn net.Conn) (lowest net.Conn, ok bool) {
	for {
		if half, can := conn.(interface{ CloseWrite() error }); can {
			_ = half.CloseWrite() // if it fails, reads do too
			ok = true
		}
		wrapped, is := conn.(interface{ NetConn() net.Conn })
		if !is {
			return conn, ok
		}
		conn = wrapped.NetConn()
	}
}
