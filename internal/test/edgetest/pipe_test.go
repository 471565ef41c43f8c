package edgetest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// pipe is a listener in memory. Its connections hand bytes over one by one
// (net.Pipe), keep deadlines in virtual time, and have addresses as TCP has.
type pipe struct {
	address net.TCPAddr
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func newPipe(last byte) *pipe {
	return &pipe{address: net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: 80}, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// client is the address that every dialler of a pipe has.
func clientAddress() net.Addr { return &net.TCPAddr{IP: net.IPv4(198, 51, 100, 7), Port: 4711} }

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipe) Addr() net.Addr { return &p.address }

// dial makes a connection; once the listener is closed it is refused.
func (p *pipe) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	here, leave := context.WithCancel(context.Background())
	select {
	case p.conns <- &end{theirs, p.Addr(), clientAddress(), here, nil}:
		return &end{ours, clientAddress(), p.Addr(), nil, leave}, nil
	case <-p.closed:
		leave()
		return nil, net.ErrClosed
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// end is one end of a connection.
type end struct {
	net.Conn
	local, remote net.Addr
	here          context.Context // the accepted end; it ends when the dialler's is closed
	leave         func()          // ends the dialler's
}

// OnLeave calls f once the other end is closed, until stop is called.
func (e *end) OnLeave(f func()) (stop func() bool) {
	if e.here == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(e.here, f)
}

func (e *end) Close() error {
	if e.leave != nil {
		e.leave()
	}
	return e.Conn.Close()
}

func (e *end) LocalAddr() net.Addr  { return e.local }
func (e *end) RemoteAddr() net.Addr { return e.remote }

// ReadFrom sends each piece as it comes, as a TCP connection does; without it
// fasthttp would fill a buffer first.
func (e *end) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{e.Conn}, r)
}

// Setting a deadline is no way to learn that the other end has closed: on a
// socket it works until this end has.
func (e *end) SetDeadline(t time.Time) error      { return alive(e.Conn.SetDeadline(t)) }
func (e *end) SetReadDeadline(t time.Time) error  { return alive(e.Conn.SetReadDeadline(t)) }
func (e *end) SetWriteDeadline(t time.Time) error { return alive(e.Conn.SetWriteDeadline(t)) }

func alive(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
