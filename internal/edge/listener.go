package edge

import (
	"context"
	"errors"
	"net"
	"net/http"

	"edgeproxy/config"
	"edgeproxy/internal/front/http1"
	"edgeproxy/internal/front/http2"
	"edgeproxy/internal/front/listen"
	"edgeproxy/internal/proxy"
)

// dataListener is one data address: the listener for clients, and its servers.
type dataListener struct {
	config config.Listen
	proxy  *proxy.Listener
	server *http1.Server
	state  func(net.Conn, http.ConnState) // called for each state of a connection; tests replace it before serve

	listener net.Listener
	secure   *listen.Secure // nil: no TLS
	h2       *http2.Server  // nil: no TLS
}

// maxHandshakes bounds the handshakes in progress at one address, including clients that have
// sent nothing yet. Each handshake costs some hundred microseconds of CPU time, and memory
// until it ends.
const maxHandshakes = 1024

// maxStreams bounds the concurrent streams of one HTTP/2 connection. Browsers expect this
// many.
const maxStreams = 128

// addListener builds the servers of one address. It does not open the address.
func (e *Edge) addListener(l config.Listen) {
	d := &dataListener{config: l, proxy: e.proxy.Listener(l.TLS, l.TrustedProxies)}
	d.proxy.AnswerLivez(l.Livez)
	d.state = func(c net.Conn, s http.ConnState) { e.onConnState(d, c, s) }
	d.server = e.newServer(d)
	e.listeners = append(e.listeners, d)
}

// open opens the address. With TLS it also builds the HTTP/2 server.
func (d *dataListener) open(e *Edge) (err error) {
	if d.listener, err = e.open(d.config, e.limiter); err != nil || !d.config.TLS {
		return err
	}
	limits := &e.config.Limits
	d.secure = listen.NewSecure(d.listener, listen.SecureOptions{
		Config: e.tlsConfig(), HandshakeTimeout: limits.HeaderTimeout, Handshakes: min(e.connectionLimit, maxHandshakes),
		Peers: e.peers, Gone: e.releaseConnection, Panics: e.panics, Log: e.log,
	})
	d.h2 = http2.NewServer(http2.Options{
		Engine: d.proxy, Admit: e.admitStream, Done: func() { e.streams.Add(-1) }, Peer: e.peers.Of,
		Streams: maxStreams, HeaderBytes: int(limits.HeaderBytes),
		HeaderTimeout: limits.HeaderTimeout, KeepaliveTimeout: limits.KeepaliveTimeout, WriteIdleTimeout: limits.WriteIdleTimeout,
		Send: paceOf(limits.SendRate), Slow: func() { e.slowStreams.Add(1) },
		State: e.onHTTP2State, Panics: e.panics, Log: e.log,
	})
	return nil
}

// serve serves until the listener is closed.
func (d *dataListener) serve(e *Edge) {
	if d.secure == nil {
		e.serving.Go(func() { e.report(d.server.Serve(d.listener)) })
		return
	}
	e.serving.Go(func() { e.report(d.secure.Serve()) })
	e.serving.Go(func() { e.report(d.server.Serve(d.secure.H1())) })
	e.serving.Go(func() { e.report(d.h2.Serve(d.secure.H2())) })
}

// handshakes returns how many handshakes are in progress.
func (d *dataListener) handshakes() int {
	if d.secure == nil {
		return 0
	}
	return d.secure.Handshakes()
}

// handshakesCut returns how many handshakes were ended because there were too many.
func (d *dataListener) handshakesCut() int64 {
	if d.secure == nil {
		return 0
	}
	return d.secure.Cut()
}

// goAway tells HTTP/2 clients to open no more streams (GOAWAY). HTTP/1.1 clients learn it from their next response.
func (d *dataListener) goAway() {
	if d.h2 != nil {
		d.h2.Warn()
	}
}

// shutdown ends handshakes and lets requests in progress finish, until ctx ends.
func (d *dataListener) shutdown(ctx context.Context) error {
	if d.secure != nil {
		_ = d.secure.Close()
	}
	var streams error
	if d.h2 != nil {
		if streams = d.h2.Shutdown(ctx); streams != nil {
			_ = d.h2.Close()
		}
	}
	err := d.server.Shutdown(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(streams, err)
}

// placeOf returns the connection's slot in the limiter. The HTTP/1 server reports the start and end of requests to it
// instead of calling onConnState. nil: the limiter does not track c.
func (e *Edge) placeOf(c net.Conn) http1.Place {
	if p := e.limiter.Place(c); p != nil {
		return p
	}
	return nil
}

// onConnState counts connections, and tells the limiter which are busy if placeOf does not. A hijacked connection keeps
// its slot, in the limits of the server and of the client's address, until it ends. The server's goroutine of the
// connection calls onConnState, so it may block.
func (e *Edge) onConnState(d *dataListener, c net.Conn, s http.ConnState) {
	switch s {
	case http.StateActive:
		e.limiter.Busy(c)
	case http.StateIdle:
		e.limiter.Idle(c)
	case http.StateNew:
		e.connections.Add(1)
		e.sends.Enter(c)
	case http.StateHijacked:
		e.connections.Add(-1)
		d.server.AwaitHandedOver(c) // else the slot would be free while the connection is open
		e.releaseConnection(c)
	default:
		e.connections.Add(-1)
		e.releaseConnection(c)
	}
}

// admitStream reports whether an HTTP/2 request may be served. limits.connections bounds HTTP/2 requests in progress
// too.
func (e *Edge) admitStream() bool {
	if e.streams.Add(1) > int64(e.config.Limits.Connections) {
		e.streams.Add(-1)
		e.refused.Add(1)
		return false
	}
	return true
}

// onHTTP2State counts HTTP/2 connections, and tells the limiter which are busy.
func (e *Edge) onHTTP2State(c net.Conn, s http2.State) {
	switch s {
	case http2.New:
		e.connections.Add(1)
		e.sends.Enter(c)
	case http2.Active:
		e.limiter.Busy(c)
	case http2.Idle:
		e.limiter.Idle(c)
	case http2.Closed:
		e.connections.Add(-1)
		e.releaseConnection(c)
	}
}

// releaseConnection releases the slots of a closed connection. It runs whether the client or the server closed it.
func (e *Edge) releaseConnection(c net.Conn) {
	e.sends.Leave(c)
	e.limiter.Leave(c)
	e.peers.Forget(c)
}
