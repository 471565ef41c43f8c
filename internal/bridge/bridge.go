package bridge

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"edgeproxy/internal/pace"
	"edgeproxy/internal/rescue"
)

// Options say how the HTTP/2 side behaves. All limits are above 0.
type Options struct {
	// Put takes the server's end of a connection of HTTP/1.1 for each request; it returns
	// false where that will not be served.
	Put func(net.Conn) bool
	// Peer returns the client's address where that is not the connection's own; nil says
	// that it always is. It is asked once, before the connection's first request: requests
	// can outlast the connection, after which the address may be forgotten.
	Peer func(net.Conn) (client netip.Addr, told bool)
	// Streams is how many requests one client may have under way at once.
	Streams int
	// HeaderBytes bounds the fields of a request.
	HeaderBytes int
	// HeaderTimeout bounds the first request, Idle a connection without one.
	HeaderTimeout, Idle time.Duration
	// WriteIdle is for how long a client may take nothing of an answer.
	WriteIdle time.Duration
	// Send is the least pace at which a client takes each answer, by the window that it
	// gives its stream. Slow is called for each answer that is ended for it; it may be nil.
	Send pace.Rate
	Slow func()
	// State is called as connections come and go; it may be nil.
	State func(net.Conn, http.ConnState)
	// Panics notes panics that end a request; nil notes none.
	Panics *rescue.Counter
	Log    *slog.Logger
}

// New returns a server for connections whose clients have chosen HTTP/2 in their
// handshake: of type *tls.Conn. Shutdown of the server lets requests under way finish.
func New(o Options) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http.Server{
		Handler:           &handler{put: o.Put, writeIdle: o.WriteIdle, send: o.Send, slow: o.Slow, panics: o.Panics},
		Protocols:         protocols,
		ReadHeaderTimeout: o.HeaderTimeout, IdleTimeout: o.Idle, MaxHeaderBytes: o.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: o.Streams, WriteByteTimeout: o.WriteIdle,
			MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
		},
		// OPTIONS * is a request like others.
		DisableGeneralOptionsHandler: true,

		ConnState: o.State,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, clientKey{}, newClient(c, o.Peer))
		},
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
}

// clientKey finds the *client in the context of a request.
type clientKey struct{}

// handler answers requests of HTTP/2.
type handler struct {
	put       func(net.Conn) bool
	writeIdle time.Duration
	panics    *rescue.Counter
	send      pace.Rate
	slow      func()
}

// answerBuffer holds the head of an answer, and what is read of its body at once.
const answerBuffer = 32 << 10

// ServeHTTP implements http.Handler. It panics with http.ErrAbortHandler, which resets
// the stream, where the answer has broken off.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.reset()
	head := headOf(r)
	c := dial(r.Context(), h.put, r.Context().Value(clientKey{}).(*client), r.TLS)
	if c == nil {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable) // and no body, which might wait for a window
		return
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(r.Context(), func() { _ = c.Close() })
	defer stop()
	go h.forward(c, head, r) // ends with the connection at the latest
	in := bufio.NewReaderSize(c, answerBuffer)
	res, err := h.final(w, in, r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	h.deliver(w, in, res)
}

// reset makes of a panic what resets the stream, and notes it.
func (h *handler) reset() {
	v := recover()
	if v == nil {
		return
	}
	if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		h.panics.Note(v)
	}
	panic(http.ErrAbortHandler)
}

// forward sends the request to the server's end. What breaks off there is the end of the
// connection, also a panic, which nobody else would recover.
func (h *handler) forward(c net.Conn, head []byte, r *http.Request) {
	err := errors.New("bridge: broken off")
	defer func() {
		if err != nil {
			_ = c.Close()
		}
	}()
	h.panics.Quietly(func() { err = send(c, head, r) })
}

// final passes interim responses on and returns the answer.
func (h *handler) final(w http.ResponseWriter, in *bufio.Reader, r *http.Request) (*http.Response, error) {
	for {
		res, err := http.ReadResponse(in, r)
		if err != nil {
			return nil, err
		}
		switch {
		case res.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("bridge: 101 to a request without Upgrade")
		case res.StatusCode == http.StatusContinue: // HTTP/2 has its own
			continue
		case res.StatusCode >= 200:
			return res, nil
		}
		writeInterim(w, res)
	}
}

// writeInterim passes an interim response on. net/http writes the fields of such a one
// from the handler's own map, and may still do so behind WriteHeader, where the stream was
// reset or the connection has ended. With a Content-Length, which it leaves out, it takes
// a copy first (writeHeader of its responseWriterState).
func writeInterim(w http.ResponseWriter, res *http.Response) {
	copyFields(w.Header(), res.Header)
	w.Header()["Content-Length"] = nil
	w.WriteHeader(res.StatusCode)
	clear(w.Header())
}

// deliver sends the answer as it comes.
func (h *handler) deliver(w http.ResponseWriter, in *bufio.Reader, res *http.Response) {
	defer func() { _ = res.Body.Close() }()
	copyFields(w.Header(), res.Header)
	for _, own := range []string{"Date", "Content-Type"} { // net/http would make them up
		if _, ok := res.Header[own]; !ok {
			w.Header()[own] = nil
		}
	}
	announce(w.Header(), res.Trailer)
	to := newTaker(w, h.writeIdle, h.send)
	w.WriteHeader(res.StatusCode)
	buf := make([]byte, answerBuffer)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			// Where nothing more is here, what is goes.
			if err := to.write(buf[:n], in.Buffered() == 0); err != nil {
				h.failed(err)
				return
			}
		}
		switch {
		case err == io.EOF:
			addTrailers(w.Header(), res.Trailer)
			to.last()
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}

// failed ends an answer that the client does not take. One that it takes too slowly is
// reset; net/http has done so with the others.
func (h *handler) failed(err error) {
	if !errors.Is(err, errSlow) {
		return
	}
	if h.slow != nil {
		h.slow()
	}
	panic(http.ErrAbortHandler)
}

func copyFields(to, from http.Header) {
	for name, values := range from {
		if !connectionSpecific(name) {
			to[name] = values
		}
	}
}
