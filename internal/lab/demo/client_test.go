package demo

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// serve answers on a loopback port for the length of the test.
func serve(t *testing.T, s *fasthttp.Server) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Logger = silent{}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	t.Cleanup(func() {
		_ = s.Shutdown()
		_ = ln.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// answerObject is a handler that does what a proxy should.
func answerObject(ctx *fasthttp.RequestCtx) {
	it := objectOf(ctx.RequestURI())
	ctx.Response.Header.Set("ETag", it.etag())
	ctx.SetBody(make([]byte, it.bytes))
}

func TestClientKeepsItsConnections(t *testing.T) {
	var opened atomic.Int64
	hosts := make(chan string, 100)
	address := serve(t, &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			hosts <- string(ctx.Host())
			answerObject(ctx)
		},
		ConnState: func(_ net.Conn, state fasthttp.ConnState) {
			if state == fasthttp.StateNew {
				opened.Add(1)
			}
		},
	})
	c := newClient(address, "demo.example:8080")
	t.Cleanup(c.close)
	for i := range 100 {
		if err := c.ask([]byte("/object/" + itoa(i))); err != nil || c.failed > 0 {
			t.Fatalf("request %d failed: %v, %v", i, err, c.last)
		}
		if got := <-hosts; got != "demo.example:8080" {
			t.Fatalf("got Host %q, want demo.example:8080", got)
		}
	}
	if got := opened.Load(); got != connections {
		t.Errorf("100 requests opened %d connections, want %d", got, connections)
	}
	c.links[0].used = time.Now().Add(-maxIdle - time.Second)
	for range connections {
		if err := c.ask([]byte("/object/1")); err != nil {
			t.Fatal(err)
		}
	}
	if got := opened.Load(); got != connections+1 {
		t.Errorf("after one was idle for long, %d connections were opened, want %d", got, connections+1)
	}
}

func TestClientOpensAnewWhatTheServerCloses(t *testing.T) {
	address := serve(t, &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		answerObject(ctx)
		ctx.SetConnectionClose()
	}})
	c := newClient(address, address)
	t.Cleanup(c.close)
	for range 3 * connections {
		if err := c.ask([]byte("/object/1")); err != nil || c.failed > 0 {
			t.Fatalf("a request failed: %v, %v", err, c.last)
		}
	}
}

func TestClientTellsWrongAnswers(t *testing.T) {
	f := func(name, want string, answer fasthttp.RequestHandler) {
		t.Helper()
		address := serve(t, &fasthttp.Server{Handler: answer})
		c := newClient(address, address)
		t.Cleanup(c.close)
		if err := c.ask([]byte("/object/1")); err != nil {
			t.Errorf("%s: got the error %v after one failure, want none", name, err)
		}
		if c.failed != 1 || c.last == nil || !strings.Contains(c.last.Error(), want) {
			t.Errorf("%s: got %d failures, the last %v, want one with %q", name, c.failed, c.last, want)
		}
	}
	f("an error", "status 503", func(ctx *fasthttp.RequestCtx) { ctx.Error("busy", fasthttp.StatusServiceUnavailable) })
	f("another object", "another object", func(ctx *fasthttp.RequestCtx) {
		answerObject(ctx)
		ctx.Response.Header.Set("ETag", `"1"`)
	})
	f("a byte short", "body of", func(ctx *fasthttp.RequestCtx) {
		answerObject(ctx)
		ctx.SetBody(ctx.Response.Body()[1:])
	})
	f("more than there may be", "receive", func(ctx *fasthttp.RequestCtx) {
		answerObject(ctx)
		ctx.SetBody(make([]byte, MaxObjectBytes+1))
	})
	f("cut in the body", "unexpected EOF", func(ctx *fasthttp.RequestCtx) {
		ctx.HijackSetNoResponse(true)
		ctx.Hijack(func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"))
		})
	})
}

func TestClientGivesUpAfterFailuresInARow(t *testing.T) {
	var broken atomic.Bool
	address := serve(t, &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		if broken.Load() {
			ctx.Error("broken", fasthttp.StatusBadGateway)
			return
		}
		answerObject(ctx)
	}})
	c := newClient(address, address)
	t.Cleanup(c.close)
	ask := func(n int) (last error) {
		for range n {
			last = c.ask([]byte("/object/1"))
			if last != nil {
				return last
			}
		}
		return nil
	}
	broken.Store(true)
	if err := ask(maxFailures - 1); err != nil {
		t.Fatalf("gave up early: %v", err)
	}
	broken.Store(false)
	if err := ask(1); err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	if err := ask(maxFailures - 1); err != nil {
		t.Fatalf("gave up although one request between succeeded: %v", err)
	}
	if err := ask(1); err == nil || !strings.Contains(err.Error(), "10 requests in a row") || !strings.Contains(err.Error(), "status 502") {
		t.Errorf("got %v, want that 10 in a row failed, and the cause", err)
	}
	if want := 2*maxFailures - 1; c.failed != want {
		t.Errorf("counted %d failures, want %d", c.failed, want)
	}
}
