package http1

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/chunked"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/route/setting"
)

// Options are what a Server is made of.
type Options struct {
	// Engine answers the requests.
	Engine message.Engine
	setting.FrontLimits
	// WriteIdleTimeout bounds one write of an answer; 0 leaves stalled clients to the kernel.
	WriteIdleTimeout time.Duration
	// Connections bounds those that are served at once; 0 is fasthttp's own bound.
	Connections int
	// State is called as connections come and go, and twice in each request; it may be nil.
	State func(net.Conn, http.ConnState)
	// Place returns the Place that is told of the requests of a connection in place of State. It is called once for
	// each connection, after http.StateNew. If it is nil, or returns nil, State is told.
	Place func(net.Conn) Place

	// Panics counts those in this room.
	Panics *rescue.Counter
	Log    *slog.Logger
}

// Place is told of the requests of one connection.
type Place interface {
	Busy() // the first bytes of a request have come
	Idle() // the answer is sent, and another request may come
}

// writeBuffer holds a head and a small body, sent in one write; a larger body
// is sent by writev without a copy.
const writeBuffer = 8 << 10

// Server is a front for HTTP/1. It is safe for concurrent use.
type Server struct {
	o          Options
	made       time.Time
	fast       *fasthttp.Server // for connections on which something else than a plain request has come
	turns      sync.Pool
	buffers    *sync.Pool // buffers for heads, each a *[]byte
	uploads    *sync.Pool // readers of content in chunks, each a *bufio.Reader
	trailers   *chunked.Section
	handedOver sync.Map // connections that were handed over; each with a channel that is closed at its end

	open     atomic.Int64 // connections that have a goroutine
	rejected atomic.Uint32
	stopping atomic.Bool

	mu        sync.Mutex
	listeners map[net.Listener]struct{} // guarded by mu
	conns     map[*conn]struct{}        // guarded by mu; those that Shutdown waits for
}

// New returns a Server.
func New(o Options) *Server {
	if o.Connections <= 0 {
		o.Connections = fasthttp.DefaultConcurrency
	}
	s := &Server{
		o: o, made: now(), buffers: newBuffers(o.HeaderBytes), uploads: newReaders(o.HeaderBytes), trailers: trailersUpTo(o.HeaderBytes),
		listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{},
	}
	s.turns.New = func() any { return newTurn(s) }
	s.fast = s.server()
	return s
}

// server returns fasthttp's server. It sets nothing on a response by itself: the origin's Date,
// Server and Content-Type are the origin's.
func (s *Server) server() *fasthttp.Server {
	o := &s.o
	return &fasthttp.Server{
		Handler:       s.handle,
		ErrorHandler:  s.malformed,
		ExpectHandler: s.expect,
		Logger:        quietLogger{o.Log},

		NoDefaultServerHeader: true,
		NoDefaultDate:         true,
		NoDefaultContentType:  true,
		SecureErrorLogMessage: true,

		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		// Of a body of known length fasthttp reads up to this much, at most 8 KiB,
		// before the handler: one byte, so that limits.body_bytes, an origin's early
		// answer and limits.read_idle_timeout are there from the start. It limits nothing.
		MaxRequestBodySize: 1,
		// Each answer is sent off by itself, also before a request that has come
		// already, and no connection that lies idle holds a write buffer. So no interim
		// response overtakes an answer, and conn has one answer at a time to put in the
		// place of fasthttp's (sendBytes).
		ReduceMemoryUsage: true,

		ReadBufferSize:  o.HeaderBytes,
		WriteBufferSize: writeBuffer,
		WriteTimeout:    o.WriteIdleTimeout, // conn keeps the deadlines of reading
		Concurrency:     math.MaxInt32,      // they are counted before
		ConnState:       s.connectionIs,
	}
}

// connectionIs is fasthttp's ConnState, for the connections that fasthttp serves.
func (s *Server) connectionIs(c net.Conn, state fasthttp.ConnState) {
	own := c.(*conn)
	switch state {
	case fasthttp.StateActive:
		if own.activeReported {
			own.activeReported = false
			return
		}
		own.headTimeUnset = true
		own.phase.Store(working)
	case fasthttp.StateIdle:
		own.headTimeUnset = false
		own.setTimeout(s.idle())
		own.phase.Store(waiting)
	case fasthttp.StateHijacked:
		s.removeConn(own)
	case fasthttp.StateNew, fasthttp.StateClosed:
	}
	s.setState(own, stateOf(state))
}

// setState tells the connection's Place, or Options.State, of its new state.
func (s *Server) setState(c *conn, state http.ConnState) {
	switch {
	case c.place != nil && state == http.StateActive:
		c.place.Busy()
	case c.place != nil && state == http.StateIdle:
		c.place.Idle()
	case s.o.State != nil:
		s.o.State(c.Conn, state)
	}
}

// stateOf returns net/http's value for a state of fasthttp.
func stateOf(state fasthttp.ConnState) http.ConnState {
	switch state {
	case fasthttp.StateNew:
		return http.StateNew
	case fasthttp.StateActive:
		return http.StateActive
	case fasthttp.StateIdle:
		return http.StateIdle
	case fasthttp.StateHijacked:
		return http.StateHijacked
	case fasthttp.StateClosed:
	}
	return http.StateClosed
}

// quietLogger is fasthttp's: what a client can cause stays out of the log
// unless debugging.
type quietLogger struct{ log *slog.Logger }

// Printf takes fasthttp's own lines.
func (q quietLogger) Printf(format string, args ...any) {
	q.log.Debug("fasthttp", "message", fmt.Sprintf(format, args...))
}
