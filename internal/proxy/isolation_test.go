package proxy_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestStrayResponseReachesNobody: bytes that an origin sends beyond its answer,
// with it or later, are no answer to the next request.
func TestStrayResponseReachesNobody(t *testing.T) {
	const one = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 3\r\n\r\none"
	const stray = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\npoison"
	const two = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 3\r\n\r\ntwo"
	f := func(name string, atOnce bool) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			answered, strayed := make(chan struct{}), make(chan struct{})
			e, app := startBefore(t, always, func(c *edgetest.Conn) {
				for r := c.Next(); r != nil; r = c.Next() {
					switch {
					case r.RequestURI != "/one":
						c.Say(two)
					case atOnce:
						c.Say(one + stray)
						close(strayed)
					default:
						c.Say(one)
						wait(answered)
						c.Say(stray)
						close(strayed)
					}
				}
			})
			ask(t, e, asGet("/one")).want(t, 200, "fwd=uri-miss; stored", "one")
			close(answered)
			wait(strayed)
			ask(t, e, asGet("/two")).want(t, 200, "fwd=uri-miss; stored", "two")
			ask(t, e, asGet("/three")).want(t, 200, "fwd=uri-miss; stored", "two")
			if a := ask(t, e, asGet("/two")); a.body != "two" {
				t.Errorf("stored: got %q, want %q", a.body, "two")
			}
			if app.Requests() != 3 {
				t.Errorf("got %d origin requests, want 3", app.Requests())
			}
		})
	}

	f("with the answer", true)
	f("later, on the idle connection", false)
}

// TestPanicEndsOneRequest: a panic on the way to the origin is a 500 for that
// request alone, in the handler's goroutine as in that of a flight.
func TestPanicEndsOneRequest(t *testing.T) {
	var panicking atomic.Bool
	var log testkit.Buffer
	app := edgetest.StartOrigin(t, nil, func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			return
		}
	})
	e := start(t, always, edgetest.Options{Origin: app.Address, Log: &log, Seams: edge.Seams{Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
		if panicking.Load() {
			panic("secret of the inside")
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}})
	other := dial(t, e.Address) // a connection that has nothing to do with it
	other.ask(asGet("/stored")).want(t, 200, "fwd=uri-miss; stored", "ok")
	for _, method := range []string{"GET", "POST", "HEAD"} {
		panicking.Store(true)
		request := method + " /new HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n"
		a := ask(t, e, request)
		if a.status != 500 || !strings.HasSuffix(a.cache, "detail=panic") || strings.Contains(a.body, "secret") {
			t.Errorf("%s: got %d %q %q, want 500 with detail=panic and nothing of the inside", method, a.status, a.cache, a.body)
		}
		panicking.Store(false)
		if a := other.ask(asGet("/stored")); a.status != 200 || !strings.Contains(a.cache, "; hit; ") {
			t.Errorf("another client after the panic of a %s: got %d %q, want a hit", method, a.status, a.cache)
		}
		ask(t, e, asGet("/after-"+method)).want(t, 200, "fwd=uri-miss; stored", "ok")
	}
	if got := e.Metric(t, "edgeproxy_panics_total"); got != 3 {
		t.Errorf("edgeproxy_panics_total: got %v, want 3", got)
	}
	if got := strings.Count(log.String(), "request panicked"); got != 3 {
		t.Errorf("got %d log lines about a panic, want 3", got)
	}
}
