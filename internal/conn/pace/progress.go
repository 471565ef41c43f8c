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

// progress tells how many bytes a client has taken.
type progress struct {
	socket syscall.RawConn // both nil: it is not known
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

// queue is the state of the send queue of a client's socket.
type queue struct {
	unacked int64 // not acknowledged
	unsent  int64 // part of unacked that is not sent, because the client or the network takes no more now
	taken   int64 // acknowledged so far; set only if unacked is not 0
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

// queue returns the send queue of the client's socket. A stream has none of its own: the connection of
// its client has.
func (p progress) queue() (q queue, ok bool) {
	if p.socket == nil {
		return q, false
	}
	waits, ok := queued(p.socket)
	if !ok || waits == 0 { // nearly all connections
		return q, ok
	}
	q, ok = acknowledged(p.socket)
	q.unacked = waits
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
