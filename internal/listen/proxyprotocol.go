package listen

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"edgeproxy/internal/client"
	"edgeproxy/internal/rescue"
)

// proxyListener reads the header of the PROXY protocol from each connection and then hands
// on the bare connection. Each has a goroutine of its own for that, so that none waits for
// another. Connections without a header are closed. Close ends them all.
type proxyListener struct {
	net.Listener // in front, which outlasts a lack of descriptors
	peers        *Peers
	limiter      *ConnLimiter
	tells        bool          // it tells a client that limiter refuses why
	patience     time.Duration // for a header
	panics       *rescue.Counter
	most         int // connections without their header
	log          *slog.Logger

	ready   chan net.Conn
	ended   chan struct{} // closed when no more connections come, for the reason in failure
	failure error
	working sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	silent silent[net.Conn] // those that wait for their header
}

func newProxyListener(front net.Listener, o Options) *proxyListener {
	l := &proxyListener{
		Listener: front, peers: o.Peers, limiter: o.Limiter, tells: !o.Mute, patience: o.HeaderTimeout, most: o.MaxWaiting, panics: o.Panics, log: o.Log,
		ready: make(chan net.Conn), ended: make(chan struct{}),
	}
	l.working.Go(l.run)
	return l
}

// Accept waits for the next connection whose header was read, and that its ConnLimiter lets
// stay. It fails when the listener is closed, or with an error that waiting cannot mend.
func (l *proxyListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.ended:
		return nil, l.failure
	}
}

// Close closes the listener and what it has not handed on, and waits until nothing of it
// runs.
func (l *proxyListener) Close() error {
	err := l.Listener.Close()
	for _, conn := range l.shut() {
		_ = conn.Close()
	}
	l.working.Wait()
	return err
}

// shut returns the connections that wait for their header; no further one will.
func (l *proxyListener) shut() []net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.silent.values()
}

// run takes connections until there are no more.
func (l *proxyListener) run() {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.failure = err
			close(l.ended)
			return
		}
		p := l.enter(conn)
		if p == nil {
			_ = conn.Close()
			continue
		}
		l.working.Go(func() { l.accept(p) })
	}
}

// enter takes in a connection whose header is still to come. Beyond the limit it closes the
// newest connection of the peer with the most, and returns nil where that is conn itself.
func (l *proxyListener) enter(conn net.Conn) *place[net.Conn] {
	who, _ := client.Of((*Peers)(nil).address(conn))
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	p, out := l.silent.add(who, conn), (*place[net.Conn])(nil)
	if l.silent.len() > l.most {
		out, _ = l.silent.choose()
		out.leave()
	}
	l.mu.Unlock()
	switch out {
	case nil:
	case p:
		l.peers.refused.Add(1)
		return nil
	default:
		l.peers.cut.Add(1)
		hangUp(out.value)
	}
	return p
}

// heard takes out one whose header was read.
func (l *proxyListener) heard(p *place[net.Conn]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.leave()
}

// accept reads the header of a connection and hands it on, or closes it.
func (l *proxyListener) accept(p *place[net.Conn]) {
	conn := p.value
	err := l.readHeader(conn)
	l.heard(p)
	if err != nil {
		l.log.Debug("connection is closed", "address", l.Addr().String(), "peer", fmt.Sprint(conn.RemoteAddr()), "error", err)
		_ = conn.Close()
		return
	}
	if !l.limiter.enter(conn, l.tells) {
		l.peers.Forget(conn)
		return
	}
	select {
	case l.ready <- conn:
	case <-l.ended:
		_ = conn.Close()
		l.limiter.Leave(conn)
		l.peers.Forget(conn)
	}
}

// readHeader reads the header of conn in time and remembers what it tells.
func (l *proxyListener) readHeader(conn net.Conn) (err error) {
	defer l.panics.Into(&err)
	if err := conn.SetReadDeadline(time.Now().Add(l.patience)); err != nil {
		return err
	}
	header, err := receive(conn)
	if err != nil {
		return err
	}
	client, told, err := source(header)
	if err != nil {
		return err
	}
	if told {
		l.peers.told.Store(conn, client)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		l.peers.Forget(conn)
		return err
	}
	return nil
}
