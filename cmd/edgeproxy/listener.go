package main

import (
	"context"
	"errors"
	"net"
	"net/http"

	"edgeproxy/config"
	"edgeproxy/internal/front/http1"
	"edgeproxy/internal/front/http2"
	"edgeproxy/internal/listen"
	"edgeproxy/internal/proxy"
)

// dataListener is one data address: where clients come in, and the servers that answer them.
type dataListener struct {
	config config.Listen
	proxy  *proxy.Listener
	server *http1.Server
	state  func(net.Conn, http.ConnState) // of its connections; changed before any comes

	listener net.Listener
	secure   *listen.Secure // nil: without TLS, and so is the next
	h2       *http2.Server
}

// maxHandshakes bounds the clients at one address that have said nothing yet, and those that
// are in the middle of their handshake: each takes some hundred microseconds of computing,
// and memory until it is over.
const maxHandshakes = 1024

// maxStreams is how many requests one client of HTTP/2 may have under way: as many as
// browsers expect.
const maxStreams = 128

// addListener builds the servers of one address; nothing listens yet.
func (e *edge) addListener(l config.Listen) {
	d := &dataListener{config: l, proxy: e.proxy.Listener(l.TLS, l.TrustedProxies)}
	d.proxy.AnswerLivez(l.Livez)
	d.state = func(c net.Conn, s http.ConnState) { e.onConnState(d, c, s) }
	d.server = e.newServer(d)
	e.listeners = append(e.listeners, d)
}

// open opens the address.
func (d *dataListener) open(e *edge) (err error) {
	if d.listener, err = e.open(d.config, e.limiter); err != nil || !d.config.TLS {
		return err
	}
	limits := &e.config.Limits
	d.secure = listen.NewSecure(d.listener, listen.SecureOptions{
		Config: e.tlsConfig(), HandshakeTimeout: limits.HeaderTimeout, Handshakes: min(limits.Connections, maxHandshakes),
		Peers: e.peers, Gone: e.releaseConnection, Panics: e.panics, Log: e.log,
	})
	d.h2 = http2.NewServer(http2.Options{
		Engine: d.proxy, Admit: e.admitStream, Done: func() { e.streams.Add(-1) }, Peer: e.peers.Of,
		Streams: maxStreams, HeaderBytes: int(limits.HeaderBytes),
		HeaderTimeout: limits.HeaderTimeout, Idle: limits.Keepalive, WriteIdle: limits.WriteIdle,
		Send: paceOf(limits.SendRate), Slow: func() { e.slowStreams.Add(1) },
		State: e.onHTTP2State, Panics: e.panics, Log: e.log,
	})
	return nil
}

// serve serves until the listener is closed.
func (d *dataListener) serve(e *edge) {
	if d.secure == nil {
		e.serving.Go(func() { e.report(d.server.Serve(d.listener)) })
		return
	}
	e.serving.Go(func() { e.report(d.secure.Serve()) })
	e.serving.Go(func() { e.report(d.server.Serve(d.secure.H1())) })
	e.serving.Go(func() { e.report(d.h2.Serve(d.secure.H2())) })
}

// handshakes returns how many handshakes are under way.
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

// goAway has clients of HTTP/2 open no more streams. Those of HTTP/1.1 are told by their next answer.
func (d *dataListener) goAway() {
	if d.h2 != nil {
		d.h2.Warn()
	}
}

// shutdown ends handshakes and lets requests under way finish.
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

// placeOf returns what a server tells of the requests of a connection, in place of connectionIs; nil: nobody has to be told.
func (e *edge) placeOf(c net.Conn) http1.Place {
	if p := e.limiter.Place(c); p != nil {
		return p
	}
	return nil
}

// onConnState counts connections, and says which have a request under way where placeOf does not. One that is handed over keeps its place, in the limits of the server and of the
// client's address, until it ends: this is called in the server's goroutine for the
// connection.
func (e *edge) onConnState(d *dataListener, c net.Conn, s http.ConnState) {
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
		d.server.AwaitHandedOver(c) // or the client would have a place to spare
		e.releaseConnection(c)
	default:
		e.connections.Add(-1)
		e.releaseConnection(c)
	}
}

// admitStream reports whether a request of HTTP/2 may be served. There may be as many under way
// as connections.
func (e *edge) admitStream() bool {
	if e.streams.Add(1) > int64(e.config.Limits.Connections) {
		e.streams.Add(-1)
		e.refused.Add(1)
		return false
	}
	return true
}

// onHTTP2State counts connections of HTTP/2, and says which have requests under way.
func (e *edge) onHTTP2State(c net.Conn, s http2.State) {
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

// releaseConnection gives back what a connection had. It runs whether the client or the server closed it.
func (e *edge) releaseConnection(c net.Conn) {
	e.sends.Leave(c)
	e.limiter.Leave(c)
	e.peers.Forget(c)
}
