package origin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"golang.org/x/net/http2"
)

// streamWindow is how much of one response may be under way, or here and not read, by HTTP/2.
const streamWindow = 256 << 10

func newH2Conns(o *Origin, s *server) *h2Conns {
	t := &http.Transport{
		DialContext:        carrierOf,
		Protocols:          new(http.Protocols),
		DisableCompression: true,
		IdleConnTimeout:    o.options.KeepAlive,
		// The library's measure has 32 bytes a field beside its text; headOf measures as HTTP/1.1 does.
		MaxResponseHeaderBytes: int64(o.options.MaxHeaderBytes) + 32*maxFields,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: streamWindow, WriteByteTimeout: o.options.IdleTimeout},
	}
	t.Protocols.SetUnencryptedHTTP2(true) // of what is under it, TLS too, the library knows nothing
	// net/http has a copy of its own, which a window that is too large stops for ever.
	if err := http2.ConfigureTransport(t); err != nil { //nolint:staticcheck // deprecated as net/http has that copy
		panic("origin: " + err.Error()) // of what is configured already
	}
	return &h2Conns{origin: o, server: s, transport: t}
}

type carrierKey struct{}

// carrierOf gives the library the connection that it is to speak on.
func carrierOf(ctx context.Context, _, _ string) (net.Conn, error) {
	nc, ok := ctx.Value(carrierKey{}).(*greeting)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return nc, nil
}

// errEndedAtOnce is the end of a connection to a server that has ended it, or wants no request, before there was one.
var errEndedAtOnce = errors.New("the server has ended the connection before a request")

// errNotOffered is the end of a connection to a server that does not speak HTTP/2.
var errNotOffered = errors.New("the server does not offer HTTP/2 (ALPN h2)")

// dial makes a connection that nobody knows yet.
func (h *h2Conns) dial(ctx context.Context) (*h2Conn, error) {
	socket, err := h.origin.socket(ctx, h.server)
	if err != nil {
		return nil, err
	}
	c := &h2Conn{server: h.server, socket: socket, known: make(chan struct{})}
	c.know = sync.OnceFunc(func() { close(c.known) })
	carrier := socket
	if h.server.TLS != nil {
		t, err := handshake(ctx, socket, h.server.TLS)
		if err == nil && t.ConnectionState().NegotiatedProtocol != h2Protocol {
			_ = socket.Close()
			err = errNotOffered
		}
		if err != nil {
			if !errors.Is(ctx.Err(), context.Canceled) {
				h.origin.useless(h.server, socket)
			}
			return nil, err
		}
		carrier = t
	}
	return c, h.speak(c, carrier)
}

// h2Protocol is the name of HTTP/2 over TLS (RFC 9113 section 3.2).
const h2Protocol = "h2"

// speak begins HTTP/2 on carrier.
func (h *h2Conns) speak(c *h2Conn, carrier net.Conn) (err error) {
	ctx := context.WithValue(context.Background(), carrierKey{}, &greeting{Conn: carrier, heard: c.know})
	if c.wire, err = h.transport.NewClientConn(ctx, "http", "origin:80"); err != nil { // a name for nobody: see carrierOf
		_ = c.socket.Close()
		return err
	}
	h.mu.Lock()
	h.open++
	h.mu.Unlock()
	h.origin.metrics.http2.Inc()
	c.wire.SetStateHook(func(*http.ClientConn) { h.changed(c) })
	h.changed(c)
	return nil
}

// ask sends r on a connection of its own, and returns the status of the answer.
func (h *h2Conns) ask(ctx context.Context, r *Request) (int, *Error) {
	limited, cancel := context.WithTimeout(ctx, h.origin.options.ConnectTimeout)
	defer cancel()
	c, err := h.dial(limited)
	if err != nil {
		return 0, h.origin.unconnected(ctx, err)
	}
	defer func() { _ = c.wire.Close() }()
	c.requests.Add(1)
	s := newStream(h.origin, c, r)
	defer s.abandon()
	answer, err := s.run(ctx)
	if err != nil {
		failure := s.failure(err)
		if !errors.Is(ctx.Err(), context.Canceled) {
			h.origin.useless(h.server, c.socket)
		}
		return 0, failure
	}
	return answer.status, nil
}

// protocolsOf are the names that a server is offered in the handshake: one, so that it cannot choose another.
func protocolsOf(http2 bool) []string {
	if http2 {
		return []string{h2Protocol}
	}
	return []string{"http/1.1"}
}
