package admin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/test/testkit"
)

func TestNewNamesWhatIsMissingOrWrong(t *testing.T) {
	f := func(change func(*Options), want string) {
		t.Helper()
		o := options()
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: got %v, want %q", err, want)
		}
	}
	f(func(o *Options) { o.Registry = nil }, "Registry")
	f(func(o *Options) { o.Ready = nil }, "Ready")
	f(func(o *Options) { o.Status = nil }, "Status")
	f(func(o *Options) { o.Purger = nil }, "Purger")
	f(func(o *Options) { o.Page = nil }, "Page")
	f(func(o *Options) { o.Log = nil }, "Log")
	f(func(o *Options) { o.Address = "127.0.0.1" }, `address "127.0.0.1"`)
	for _, h := range []string{"", "*", "*.example", "http://a", "a/b", "a:x", "[::1", "a b"} {
		f(func(o *Options) { o.Hosts = []string{"ok.example", h} }, `host "`+h+`"`)
	}
	if _, err := NewMetrics(MetricsOptions{}); err == nil || !strings.Contains(err.Error(), "Registry") {
		t.Errorf("NewMetrics: got %v, want Registry named", err)
	}
}

// held is a Status that waits until it is released.
type held struct{ entered, leave chan struct{} }

func hold(o *Options) held {
	h := held{make(chan struct{}), make(chan struct{})}
	o.Status = func() any {
		h.entered <- struct{}{}
		<-h.leave
		return "done"
	}
	return h
}

func TestCloseLetsARequestEnd(t *testing.T) {
	o := options()
	h := hold(&o)
	g := serve(t, mustNew(t, o))
	got := make(chan reply, 1)
	go func() { got <- g.do("GET", "/status", "") }()
	<-h.entered
	closed := make(chan error, 1)
	go func() { closed <- g.server.Close(context.Background()) }()
	err := <-g.served // Serve ends as soon as Close has begun
	g.served <- err
	select {
	case err := <-closed:
		t.Errorf("Close returned %v while a request was under way", err)
	default:
	}
	close(h.leave)
	if a := <-got; a.status != http.StatusOK || a.body != "\"done\"\n" {
		t.Errorf("request under way: got %d %q, want 200 and the whole body", a.status, a.body)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
}

func TestCloseCutsWhenItsTimeIsUp(t *testing.T) {
	o := options()
	h := hold(&o)
	g := serve(t, mustNew(t, o))
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatalf("write: %v", err)
	}
	<-h.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.server.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: got %v, want it to wrap the context's error", err)
	}
	if err := c.SetReadDeadline(time.Now().Add(testkit.Patience)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); len(b) != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("request under way: got %q, %v, want its connection cut and no answer", b, err)
	}
	close(h.leave)
}

func TestServeAfterCloseReturnsAndClosesTheListener(t *testing.T) {
	s := mustNew(t, options())
	if err := s.Close(context.Background()); err != nil {
		t.Fatalf("Close: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != nil {
		t.Errorf("Serve: got %v, want nil", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("listener: got %v on closing, want it closed before", err)
	}
}

func TestServeReportsAListenerThatFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := mustNew(t, options())
	if err := s.Serve(l); !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("Serve: got %v, want an error that wraps net.ErrClosed and names the address", err)
	}
}

// pipes is a listener in memory, for virtual time.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// servePipe serves one connection in memory and returns the client's end.
func servePipe(s *Server) net.Conn {
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	go func() { _ = s.Serve(p) }()
	client, server := net.Pipe()
	p.conns <- server
	return client
}

func TestSlowClientsAreCutInTime(t *testing.T) {
	const get = "GET /livez HTTP/1.1\r\nHost: localhost\r\n"
	f := func(what, send string, read bool, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := mustNew(t, options())
			client := servePipe(s)
			start := time.Now()
			if _, err := io.WriteString(client, send); err != nil {
				t.Fatalf("%s: write: %v", what, err)
			}
			if !read {
				time.Sleep(want + time.Second) // longer than the limit, without reading
				if b, _ := io.ReadAll(client); len(b) != 0 {
					t.Errorf("%s: got %q, want a connection cut before", what, b)
				}
			} else {
				_, _ = io.Copy(io.Discard, client) // ends when the server cuts
				if got := time.Since(start); got != want {
					t.Errorf("%s: cut after %v, want %v", what, got, want)
				}
			}
			_ = client.Close()
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("%s: Close: %v", what, err)
			}
		})
	}
	f("header that never ends", get, true, 5*time.Second)
	f("no request at all", "", true, 5*time.Second)
	f("idle after a request", get+"\r\n", true, time.Minute)
	f("client that does not read", get+"\r\n", false, 30*time.Second)
	f("body that never comes", "POST /purge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", true, 10*time.Second)
}

func TestScrapeThatHangsIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, reg := options(), prometheus.NewRegistry()
		b := blocked{make(chan struct{}, 1), make(chan struct{})}
		reg.MustRegister(b)
		o.Registry = reg
		s := mustNew(t, o)
		client := servePipe(s)
		start := time.Now()
		if _, err := io.WriteString(client, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatalf("write: %v", err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if d := time.Since(start); resp.StatusCode != http.StatusServiceUnavailable || d != 10*time.Second {
			t.Errorf("got %d after %v, want 503 after 10s", resp.StatusCode, d)
		}
		close(b.leave)
		_ = client.Close()
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestPanicIsAnAnswerAndGoesToTheLog(t *testing.T) {
	var log record
	o := options()
	o.Status = func() any { panic("status broke") }
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Panics = rescue.NewCounter(o.Log)
	g := serve(t, mustNew(t, o))
	if a := g.do("GET", "/status", ""); a.status != http.StatusInternalServerError || strings.Contains(g.errorText(a), "broke") {
		t.Errorf("panic: got %d %q, want 500 and nothing of the inside", a.status, a.body)
	}
	if got := g.do("GET", "/livez", "").status; got != http.StatusOK {
		t.Errorf("after a panic: got %d, want 200", got)
	}
	if got := log.String(); !strings.Contains(got, "status broke") || o.Panics.Count() != 1 {
		t.Errorf("log: got %q, want the panic", got)
	}
}
