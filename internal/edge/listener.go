package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/cache/spool"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/sendfile"
	"edgeproxy/internal/front/http1"
	"edgeproxy/internal/front/http2"
	"edgeproxy/internal/front/listen"
	"edgeproxy/internal/proxy"
)

// clientSide are the connections of clients: the listeners, and what bounds and counts the connections of all of them.
type clientSide struct {
	*core
	listeners       []*dataListener   // one for each address of the configuration
	inherited       *listen.Inherited // sockets of the supervisor
	peers           *listen.Peers     // nil: no listener speaks the PROXY protocol
	limiter         *listen.ConnLimiter
	connectionLimit int // limits.connections, or fewer where the process may not have as many descriptors
	sends           *pace.Watch
	pinned          *pinned.Total
	copies          *sendfile.Copies
	spool           *spool.Spool // nil: limits.spool_path is not set

	connections atomic.Int64 // open client connections, without hijacked ones
	streams     atomic.Int64 // HTTP/2 requests in progress
	refused     atomic.Int64 // HTTP/2 requests refused because of limits.connections
	slowStreams atomic.Int64 // HTTP/2 streams reset because of limits.send_rate
}

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
func (cl *clientSide) addListener(l config.Listen) {
	d := &dataListener{config: l, proxy: cl.proxy.Listener(l.TLS, l.TrustedProxies)}
	d.proxy.AnswerLivez(l.Livez)
	d.state = func(c net.Conn, s http.ConnState) { cl.onConnState(d, c, s) }
	d.server = cl.newServer(d)
	cl.listeners = append(cl.listeners, d)
}

// newServer returns the HTTP/1 server of one data listener.
func (cl *clientSide) newServer(d *dataListener) *http1.Server {
	return http1.New(http1.Options{
		Engine: d.proxy, FrontLimits: cl.config.Limits.FrontLimits, WriteIdleTimeout: writeIdleTimeout(cl.config),
		// The listener's limiter bounds connections. It frees a slot a moment before this
		// server does, so this bound is twice as high.
		Connections: 2 * cl.connectionLimit,
		State:       func(c net.Conn, s http.ConnState) { d.state(c, s) },
		Place:       cl.placeOf,
		Panics:      cl.panics, Log: cl.log,
	})
}

// writeIdleTimeout bounds one write to a client. It is 0 if the kernel drops the connections of stalled clients
// on every listener.
func writeIdleTimeout(c *config.Config) time.Duration {
	if listen.KernelDropsStalled && !slices.ContainsFunc(c.Listen, func(l config.Listen) bool { return l.Socket() }) {
		return 0
	}
	return c.Limits.WriteIdleTimeout
}

// open opens the address. With TLS it also builds the HTTP/2 server, and calls forTLS for the settings of TLS.
func (d *dataListener) open(cl *clientSide, forTLS func() *tls.Config) (err error) {
	if d.listener, err = cl.open(d.config, cl.limiter); err != nil || !d.config.TLS {
		return err
	}
	limits := &cl.config.Limits
	d.secure = listen.NewSecure(d.listener, listen.SecureOptions{
		Config: forTLS(), HandshakeTimeout: limits.HeaderTimeout, Handshakes: min(cl.connectionLimit, maxHandshakes),
		Peers: cl.peers, Gone: cl.releaseConnection, Panics: cl.panics, Log: cl.log,
	})
	d.h2 = http2.NewServer(http2.Options{
		Engine: d.proxy, Admit: cl.admitStream, Done: func() { cl.streams.Add(-1) }, Peer: cl.peers.Of,
		Streams: maxStreams, FrontLimits: limits.FrontLimits, WriteIdleTimeout: limits.WriteIdleTimeout,
		SendRate: limits.SendRate, Slow: func() { cl.slowStreams.Add(1) },
		State: cl.onHTTP2State, Panics: cl.panics, Log: cl.log,
	})
	return nil
}

// serve serves, in goroutines that run starts, until the listener is closed.
func (d *dataListener) serve(run func(func() error)) {
	if d.secure == nil {
		run(func() error { return d.server.Serve(d.listener) })
		return
	}
	run(d.secure.Serve)
	run(func() error { return d.server.Serve(d.secure.H1()) })
	run(func() error { return d.h2.Serve(d.secure.H2()) })
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
func (cl *clientSide) placeOf(c net.Conn) http1.Place {
	if p := cl.limiter.Place(c); p != nil {
		return p
	}
	return nil
}

// onConnState counts connections, and tells the limiter which are busy if placeOf does not. A hijacked connection keeps
// its slot, in the limits of the server and of the client's address, until it ends. The server's goroutine of the
// connection calls onConnState, so it may block.
func (cl *clientSide) onConnState(d *dataListener, c net.Conn, s http.ConnState) {
	switch s {
	case http.StateActive:
		cl.limiter.Busy(c)
	case http.StateIdle:
		cl.limiter.Idle(c)
	case http.StateNew:
		cl.connections.Add(1)
		cl.sends.Enter(c)
	case http.StateHijacked:
		cl.connections.Add(-1)
		d.server.AwaitHandedOver(c) // else the slot would be free while the connection is open
		cl.releaseConnection(c)
	default:
		cl.connections.Add(-1)
		cl.releaseConnection(c)
	}
}

// admitStream reports whether an HTTP/2 request may be served. limits.connections bounds HTTP/2 requests in progress
// too.
func (cl *clientSide) admitStream() bool {
	if cl.streams.Add(1) > int64(cl.config.Limits.Connections) {
		cl.streams.Add(-1)
		cl.refused.Add(1)
		return false
	}
	return true
}

// onHTTP2State counts HTTP/2 connections, and tells the limiter which are busy.
func (cl *clientSide) onHTTP2State(c net.Conn, s http2.State) {
	switch s {
	case http2.New:
		cl.connections.Add(1)
		cl.sends.Enter(c)
	case http2.Active:
		cl.limiter.Busy(c)
	case http2.Idle:
		cl.limiter.Idle(c)
	case http2.Closed:
		cl.connections.Add(-1)
		cl.releaseConnection(c)
	}
}

// releaseConnection releases the slots of a closed connection. It runs whether the client or the server closed it.
func (cl *clientSide) releaseConnection(c net.Conn) {
	cl.sends.Leave(c)
	cl.limiter.Leave(c)
	cl.peers.Forget(c)
}

// buildListeners builds the data listeners. It opens no address.
func (cl *clientSide) buildListeners() {
	cl.limitConnections(descriptorLimit())
	limits := &cl.config.Limits
	cl.limiter = listen.NewConnLimiter(listen.ConnLimits{Connections: cl.connectionLimit, PerAddress: limits.PerAddress}, cl.peers)
	for _, l := range cl.config.Listen {
		cl.addListener(l)
	}
	cl.registerConnectionMetrics()
}

// registerConnectionMetrics registers the metrics of client connections, which only the listeners and servers know.
func (cl *clientSide) registerConnectionMetrics() {
	cl.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "open"},
		}, func() float64 { return float64(cl.connections.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "idle"},
		}, func() float64 { return float64(cl.limiter.Waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "upgraded"},
		}, func() float64 { return float64(cl.proxy.Upgraded()) }),
		cl.rejections("connections", cl.refusedConnections),
	)
	cl.registerLetGoMetrics()
	if cl.config.Limits.PerAddress > 0 {
		cl.registry.MustRegister(cl.rejections("connections_per_address", func() int64 {
			_, ofOne := cl.limiter.Refused()
			return ofOne
		}))
	}
}

// refusedConnections returns how many connections and HTTP/2 requests were
// refused because of limits.connections. The limit holds for each of the two.
func (cl *clientSide) refusedConnections() int64 {
	n, _ := cl.limiter.Refused()
	n += cl.refused.Load()
	for _, d := range cl.listeners {
		n += int64(d.server.Rejected())
	}
	return n
}

// open opens an address, or takes over an inherited socket.
func (cl *clientSide) open(l config.Listen, limiter *listen.ConnLimiter) (net.Listener, error) {
	o := listen.Options{
		Address: l.Address, Mode: l.SocketMode, WriteIdleTimeout: cl.config.Limits.WriteIdleTimeout,
		Listen: cl.seams.Listen, Inherited: cl.inherited, Limiter: limiter, Mute: l.TLS, Panics: cl.panics, Log: cl.log,
	}
	if l.ProxyProtocol {
		o.Peers, o.HeaderTimeout, o.MaxWaiting = cl.peers, cl.config.Limits.HeaderTimeout, cl.connectionLimit
	}
	return listen.Open(context.Background(), o)
}
