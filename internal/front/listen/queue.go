package listen

import (
	"net"
	"sync"
)

// Queue is a listener whose connections come from within the process. It holds none of
// them: Put waits until the connection is accepted. It is safe for concurrent use.
type Queue struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewQueue returns a Queue that says it is at addr.
func NewQueue(addr net.Addr) *Queue {
	return &Queue{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Put hands c to the next Accept. It returns false once the Queue is closed; then the caller
// has to close c.
func (q *Queue) Put(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.closed:
		return false
	}
}

// Accept implements net.Listener.
func (q *Queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (q *Queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr implements net.Listener.
func (q *Queue) Addr() net.Addr { return q.addr }
