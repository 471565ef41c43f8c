package presence

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Client is a client that waits for an answer, from Attend to Release. All methods may be
// called on a nil Client, which never leaves, and by several goroutines at once.
type Client struct {
	watch *Watch
	stop  func() bool // forgets the callback of a connection within the process; nil: there is none
	sent  atomic.Int64

	mu   sync.Mutex
	left bool
	gone chan struct{} // closed when it has left; nil: nobody has asked for it
	ends io.Closer

	// guarded by watch.mu
	listed     bool
	since      uint64 // how many sweeps there had been
	next, prev *Client

	// the sweep's own
	conn   syscall.Conn
	raw    syscall.RawConn
	silent int   // sweeps since the client ended its side, without anything being sent
	before int64 // what was sent by the last of them
}

// insider is a connection within the process, whose client does not come by a socket.
// OnLeave calls f in a goroutine of its own once the client has left; stop forgets f, as
// that of context.AfterFunc does.
type insider interface {
	OnLeave(f func()) (stop func() bool)
}

// Ends has c closed when the client leaves, at once if it has left already. c takes the place
// of that of an earlier call; nil closes nothing.
func (g *Client) Ends(c io.Closer) {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.ends = c
	left := g.left
	g.mu.Unlock()
	if left && c != nil {
		_ = c.Close()
	}
}

// Left reports whether the client was seen to leave.
func (g *Client) Left() bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left
}

// Gone is closed once the client was seen to leave; nil for a nil Client.
func (g *Client) Gone() <-chan struct{} {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone == nil {
		g.gone = make(chan struct{})
		if g.left {
			close(g.gone)
		}
	}
	return g.gone
}

// Sent notes that something was sent to the client. A client that has only ended its own side
// is then left in peace again; one that is gone answers with a reset.
func (g *Client) Sent() {
	if g != nil {
		g.sent.Add(1)
	}
}

// Release ends the watch. It must come before the connection is closed or used for
// something else.
func (g *Client) Release() {
	if g == nil {
		return
	}
	if g.stop != nil {
		g.stop()
	}
	g.watch.remove(g)
}

// leave notes that the client has left, and ends what is to end.
func (g *Client) leave() {
	g.mu.Lock()
	first := !g.left
	g.left = true
	if first && g.gone != nil {
		close(g.gone)
	}
	ends := g.ends
	g.mu.Unlock()
	if !first {
		return
	}
	g.watch.gone.Add(1)
	if ends != nil {
		_ = ends.Close()
	}
}

// socketOf returns what of conn can be asked, nil where there is no socket.
func socketOf(conn net.Conn) syscall.Conn {
	for {
		if s, ok := conn.(syscall.Conn); ok {
			return s
		}
		wrapped, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = wrapped.NetConn()
	}
}
