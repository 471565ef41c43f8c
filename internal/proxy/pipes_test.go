package proxy_test

import (
	"context"
	"net"
	"sync"
)

// pipes is a listener in memory, for tests in virtual time. Its connections hand bytes over one by one, and keep deadlines.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// loopback is the address of both ends.
var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return loopback }

// dial makes a connection. Once the listener is closed it is refused.
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- pipeEnd{theirs}:
		return pipeEnd{ours}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeEnd struct{ net.Conn }

func (pipeEnd) LocalAddr() net.Addr  { return loopback }
func (pipeEnd) RemoteAddr() net.Addr { return loopback }
