package listen

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/route/client"
)

// proxyListener reads the header of the PROXY protocol from each connection and then returns
// the bare connection by Accept. Each header is read in a goroutine of its own, so that no connection
// waits for another. Connections without a header are closed. Close ends them all.
type proxyListener struct {
	net.Listener   // in front, which outlasts a lack of descriptors
	peers          *Peers
	limiter        *ConnLimiter
	answersRefused bool          // it tells a client that limiter refuses why
	headerTimeout  time.Duration // for a header
	panics         *rescue.Counter
	maxWaiting     int // connections without their header
	log            *slog.Logger

	ready   chan net.Conn
	ended   chan struct{} // closed when no more connections come, for the reason in failure
	failure error
	working sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	silent silentSet[net.Conn] // connections that wait for their header
}

func newProxyListener(front net.Listener, o Options) *proxyListener {
	l := &proxyListener{
		Listener: front, peers: o.Peers, limiter: o.Limiter, answersRefused: !o.Mute, headerTimeout: o.HeaderTimeout, maxWaiting: o.MaxWaiting, panics: o.Panics, log: o.Log,
		ready: make(chan net.Conn), ended: make(chan struct{}),
	}
	l.working.Go(l.run)
	return l
}

// Accept waits for the next connection whose header was read, and that its ConnLimiter
// admits. It fails when the listener is closed, or with an error that does not pass with time.
func (l *proxyListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.ended:
		return nil, l.failure
	}
}

// Close closes the listener and the connections that Accept has not returned, and waits for its
// goroutines.
func (l *proxyListener) Close() error {
	err := l.Listener.Close()
	for _, conn := range l.stopWaiting() {
		_ = conn.Close()
	}
	l.working.Wait()
	return err
}

// stopWaiting returns the connections that wait for their header. No further one is added after that.
func (l *proxyListener) stopWaiting() []net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.silent.values()
}

// run accepts connections until the listener fails.
func (l *proxyListener) run() {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.failure = err
			close(l.ended)
			return
		}
		p := l.addSilent(conn)
		if p == nil {
			_ = conn.Close()
			continue
		}
		l.working.Go(func() { l.accept(p) })
	}
}

// addSilent adds a connection whose header is still to come. Beyond the limit it ends the connection that
// chooseVictim chooses. It returns nil if the listener is closed.
func (l *proxyListener) addSilent(conn net.Conn) *silentEntry[net.Conn] {
	who, _ := client.Of((*Peers)(nil).address(conn))
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	p, out := l.silent.add(who, conn), (*silentEntry[net.Conn])(nil)
	if l.silent.len() > l.maxWaiting {
		out, _ = l.silent.chooseVictim()
		out.remove()
	}
	l.mu.Unlock()
	if out != nil {
		l.peers.cut.Add(1)
		closeRead(out.value)
	}
	return p
}

// headerRead removes a connection from those that wait for their header.
func (l *proxyListener) headerRead(p *silentEntry[net.Conn]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.remove()
}

// accept reads the header of a connection and passes the connection to Accept, or closes it.
func (l *proxyListener) accept(p *silentEntry[net.Conn]) {
	conn := p.value
	err := l.readHeader(conn)
	l.headerRead(p)
	if err != nil {
		l.log.Debug("connection closed: no valid PROXY protocol header", "address", l.Addr().String(), "peer", fmt.Sprint(conn.RemoteAddr()), "error", err)
		_ = conn.Close()
		return
	}
	if !l.limiter.admit(conn, l.answersRefused) {
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
	if err := conn.SetReadDeadline(time.Now().Add(l.headerTimeout)); err != nil {
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
