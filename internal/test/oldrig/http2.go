package edgetest

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/front/http2"
)

// StartHTTP2 has e also speak HTTP/2, without TLS and from the first byte, until the end of the
// test, and returns the address.
func (e *Edge) StartHTTP2(tb testing.TB) (address string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	s := http2.NewServer(http2.Options{
		Engine: e.Proxy.Listener(false, e.options.TrustedProxies), Streams: 100, HeaderBytes: 16 << 10,
		HeaderTimeout: e.options.HeaderTimeout, KeepaliveTimeout: time.Minute, WriteIdleTimeout: max(e.options.WriteIdleTimeout, 0),
		Panics: e.options.Origin.Panics, Log: slog.New(slog.DiscardHandler),
	})
	e.serving.Go(func() { _ = s.Serve(l) })
	tb.Cleanup(func() { // before e is stopped
		_ = l.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
	})
	return l.Addr().String()
}
