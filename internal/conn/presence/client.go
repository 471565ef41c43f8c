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
	stop  func() bool // cancels the callback of a connection within the process; nil: there is none
	sent  atomic.Int64

	mu     sync.Mutex
	left   bool
	gone   chan struct{} // closed when it has left; nil: nobody has asked for it
	closer io.Closer

	// guarded by watch.mu
	listed     bool
	since      uint64 // value of Watch.sweeps when it was added
	next, prev *Client

	// used only by the sweep
	conn         syscall.Conn
	raw          syscall.RawConn
	silentSweeps int   // sweeps since the client ended its side, or since something was sent to it after that
	sentBefore   int64 // value of sent at the last sweep
}

// inProcess is a connection within the process, whose client does not come by a socket.
// OnLeave calls f in a goroutine of its own once the client has left; stop prevents that, as
// that of context.AfterFunc does.
type inProcess interface {
	OnLeave(f func()) (stop func() bool)
}

// Ends makes c be closed when the client leaves, at once if it has left already. c replaces that of
// an earlier call; nil closes nothing.
func (g *Client) Ends(c io.Closer) {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.closer = c
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

// Gone returns a channel that is closed once the client was seen to leave; nil for a nil Client.
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

// Sent notes that something was sent to the client. For a client that has ended its side, the grace
// time begins again. A client that has closed both sides answers what is sent with a reset.
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

// leave notes that the client has left, and closes closer.
func (g *Client) leave() {
	g.mu.Lock()
	first := !g.left
	g.left = true
	if first && g.gone != nil {
		close(g.gone)
	}
	ends := g.closer
	g.mu.Unlock()
	if !first {
		return
	}
	g.watch.gone.Add(1)
	if ends != nil {
		_ = ends.Close()
	}
}

// socketOf returns the socket of conn, below TLS; nil if there is none.
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
