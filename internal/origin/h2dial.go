package origin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// streamWindow is the flow-control window of one response by HTTP/2: the bytes that may be under way, or here and not read.
const streamWindow = 256 << 10

func newH2Conns(o *Origin, s *server) *h2Conns {
	t := &http.Transport{
		DialContext:        connFromContext,
		Protocols:          new(http.Protocols),
		DisableCompression: true,
		IdleConnTimeout:    o.options.KeepAlive,
		// The library's measure has 32 bytes a field beside its text; headOf measures as HTTP/1.1 does.
		MaxResponseHeaderBytes: int64(o.options.MaxHeaderBytes) + 32*maxFields,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamWindow, WriteByteTimeout: o.options.IdleTimeout,
			MaxReadFrameSize: longestFrame, MaxDecoderHeaderTableSize: headerTable,
		},
	}
	t.Protocols.SetUnencryptedHTTP2(true) // the library does not know that there may be TLS below
	// net/http has a copy of its own, which a window that is too large stops for ever.
	if err := http2.ConfigureTransport(t); err != nil { //nolint:staticcheck // deprecated as net/http has that copy
		panic("origin: " + err.Error()) // it fails only for a Transport that is configured already
	}
	return &h2Conns{origin: o, server: s, transport: t}
}

type connKey struct{}

// connFromContext returns to the library the connection that speak has put into the context.
func connFromContext(ctx context.Context, _, _ string) (net.Conn, error) {
	nc, ok := ctx.Value(connKey{}).(*prefaceConn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return nc, nil
}

// errEndedAtOnce is the failure of a connection that the server has ended, or on which it allows no request, before the first.
var errEndedAtOnce = errors.New("the server closed the connection, or allowed no request on it, before the first request")

// errNotOffered is the failure of a connection to a server that does not offer HTTP/2.
var errNotOffered = errors.New("the server does not offer HTTP/2 (ALPN h2)")

// dial makes a connection. It does not add it to h.
func (h *h2Conns) dial(ctx context.Context) (*h2Conn, error) {
	socket, err := h.origin.socket(ctx, h.server)
	if err != nil {
		return nil, err
	}
	c := &h2Conn{server: h.server, socket: socket, address: addressOf(socket), ready: make(chan struct{})}
	if life := h.origin.options.lifetime(); life > 0 {
		c.ends = time.Now().Add(life)
	}
	h.server.made(c.address)
	c.markReady = sync.OnceFunc(func() { close(c.ready) })
	carrier := socket
	if h.server.TLS != nil {
		t, err := handshake(ctx, socket, h.server.TLS)
		if err == nil && t.ConnectionState().NegotiatedProtocol != h2Protocol {
			_ = socket.Close()
			err = errNotOffered
		}
		if err != nil {
			if !errors.Is(ctx.Err(), context.Canceled) {
				h.origin.reportBadConn(h.server, socket)
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
	checked := newHeadChecker(carrier, 2*int(h.transport.MaxResponseHeaderBytes)) // the library allows less
	ctx := context.WithValue(context.Background(), connKey{}, &prefaceConn{Conn: checked, onPreface: c.markReady})
	if c.wire, err = h.transport.NewClientConn(ctx, "http", "origin:80"); err != nil { // the address is not used: see connFromContext
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
		return 0, h.origin.connectError(ctx, err)
	}
	defer func() { _ = c.wire.Close() }()
	c.requests.Add(1)
	s := newStream(h.origin, c, r)
	defer s.abandon()
	answer, err := s.run(ctx)
	if err != nil {
		failure := s.failure(err)
		if !errors.Is(ctx.Err(), context.Canceled) {
			h.origin.reportBadConn(h.server, c.socket)
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
