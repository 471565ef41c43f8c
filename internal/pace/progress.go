package pace

import (
	"net"
	"syscall"
)

// Stream is a connection that is one request of HTTP/2, and not a client's own. Taken returns
// how many bytes were taken of what was written to it; Close ends the stream.
type Stream interface {
	net.Conn
	Taken() int64
}

// progress tells how far a client has come.
type progress struct {
	socket syscall.RawConn // nil: nobody tells
	stream Stream
}

func progressOf(conn net.Conn) progress {
	if s, ok := conn.(Stream); ok {
		return progress{stream: s}
	}
	tcp, ok := bare(conn).(*net.TCPConn)
	if !ok {
		return progress{}
	}
	socket, err := tcp.SyscallConn()
	if err != nil {
		return progress{}
	}
	return progress{socket: socket}
}

// queue is what the system has for a client, and has had.
type queue struct {
	waits  int64 // not acknowledged
	unsent int64 // of that, because the client or the network takes no more now
	taken  int64 // acknowledged so far; only where something waits
}

// acknowledged returns how many bytes the client has taken so far.
func (p progress) acknowledged() (bytes int64, ok bool) {
	switch {
	case p.stream != nil:
		return p.stream.Taken(), true
	case p.socket != nil:
		q, ok := acknowledged(p.socket)
		return q.taken, ok
	}
	return 0, false
}

// queue returns what waits for the client. A stream has no queue of its own: its client's
// connection has.
func (p progress) queue() (q queue, ok bool) {
	if p.socket == nil {
		return q, false
	}
	waits, ok := queued(p.socket)
	if !ok || waits == 0 { // as with nearly all
		return q, ok
	}
	q, ok = acknowledged(p.socket)
	q.waits = waits
	return q, ok
}

// bare returns the connection that TLS may have wrapped.
func bare(conn net.Conn) net.Conn {
	for {
		wrapped, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = wrapped.NetConn()
	}
}
