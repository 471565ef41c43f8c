package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/front/http2"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// Tests over real sockets: what virtual time and pipes cannot show. connectionPatience is for all that a client does on a
// connection: on a busy machine that may be much.
const (
	patience           = testkit.Patience
	connectionPatience = 10 * patience
)

// always is the policy that admits what is storable.
const always = "admission: {policy: always}\n"

// nodeName is the name of an edge.
const nodeName = edgetest.Node

// start starts an edge. What the YAML does not say may take long: on a busy machine a short time would end what the test is about.
func start(t testing.TB, yaml string, o edgetest.Options) *edgetest.Edge {
	t.Helper()
	return startIn(t, t.TempDir(), yaml, o)
}

// startIn is start with {dir} in this folder, which outlives the edge.
func startIn(t testing.TB, dir, yaml string, o edgetest.Options) *edgetest.Edge {
	t.Helper()
	adjust := o.Adjust
	o.Adjust = func(c *config.Config) {
		patient(c)
		if adjust != nil {
			adjust(c)
		}
	}
	return edgetest.StartIn(t, dir, yaml, o)
}

// patient makes times of c long that have their defaults.
func patient(c *config.Config) {
	limits := []struct {
		of      *time.Duration
		shipped time.Duration
	}{
		{&c.Cache.CollapseWait, 5 * time.Second}, {&c.Limits.ReadIdleTimeout, 30 * time.Second}, {&c.Limits.HeaderTimeout, 10 * time.Second},
	}
	for i := range c.Origins {
		o := &c.Origins[i]
		for of, shipped := range map[*time.Duration]time.Duration{&o.ConnectTimeout: 3 * time.Second, &o.FirstByteTimeout: 30 * time.Second, &o.IdleTimeout: 30 * time.Second} {
			limits = append(limits, struct {
				of      *time.Duration
				shipped time.Duration
			}{of, shipped})
		}
	}
	for _, l := range limits {
		if *l.of == l.shipped {
			*l.of = time.Hour
		}
	}
}

// startBefore starts an edge before an origin that plays script.
func startBefore(t testing.TB, yaml string, script func(*edgetest.Conn)) (*edgetest.Edge, *edgetest.Origin) {
	t.Helper()
	app := edgetest.StartOrigin(t, nil, script)
	return start(t, yaml, edgetest.Options{Origin: app.Address}), app
}

// reload makes the YAML the configuration in force.
func reload(t testing.TB, e *edgetest.Edge, yaml string) {
	t.Helper()
	if r, err := e.Reload(yaml); err != nil || len(r.Restart) > 0 {
		t.Fatalf("reload: got %+v, %v", r, err)
	}
}

// startHTTP2 has e also speak HTTP/2, without TLS and from the first byte, until the end of the test, and returns the address.
func startHTTP2(t testing.TB, e *edgetest.Edge) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := http2.NewServer(http2.Options{
		Engine: e.Proxy.Listener(false, nil), Streams: 100, FrontLimits: setting.FrontLimits{HeaderBytes: 16 << 10, HeaderTimeout: time.Hour, KeepaliveTimeout: time.Hour}, WriteIdleTimeout: time.Hour,
		Panics: rescue.NewCounter(log), Log: log,
	})
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { // before e is stopped
		_ = l.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.Shutdown(ctx)
		serving.Wait()
	})
	return l.Addr().String()
}

// socket is a client's connection.
type socket struct {
	net.Conn
	r *bufio.Reader
}

func dial(t testing.TB, address string) *socket {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(connectionPatience))
	return &socket{Conn: c, r: bufio.NewReader(c)}
}

// head sends a request and reads the head of the answer.
func (s *socket) head(request string) (*http.Response, error) {
	if _, err := io.WriteString(s, request); err != nil {
		return nil, err
	}
	return http.ReadResponse(s.r, nil)
}

// asGet is a GET without further fields.
func asGet(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: edge.test\r\n\r\n" }

// answer is a whole answer, or how far it came.
type answer struct {
	status int    // 0: none
	cache  string // Cache-Status
	header http.Header
	body   string
	err    error // what ended head or body
}

// ask sends a request on a connection of its own.
func ask(t testing.TB, e *edgetest.Edge, request string) answer {
	t.Helper()
	s := dial(t, e.Address)
	defer s.Close()
	return s.ask(request)
}

func (s *socket) ask(request string) answer {
	if _, err := io.WriteString(s, request); err != nil {
		return answer{err: err}
	}
	return s.read()
}

// read reads an answer.
func (s *socket) read() answer {
	res, err := http.ReadResponse(s.r, nil)
	if err != nil {
		return answer{err: err}
	}
	body, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, cache: res.Header.Get("Cache-Status"), header: res.Header, body: string(body), err: err}
}

// want compares a whole answer.
func (a answer) want(t testing.TB, status int, cache, body string) {
	t.Helper()
	if a.err != nil || a.status != status || a.cache != edgetest.Node+"; "+cache || a.body != body {
		t.Errorf("got %d %q, %d bytes %.40q, error %v; want %d %q, %d bytes %.40q",
			a.status, a.cache, len(a.body), a.body, a.err, status, edgetest.Node+"; "+cache, len(body), body)
	}
}

// wantHit compares a whole answer from the cache, where it may have been for a while: it was fresh for an hour at first.
func (a answer) wantHit(t testing.TB, status int, body string) {
	t.Helper()
	const ttl = 3600
	left := 0
	if _, err := fmt.Sscanf(a.cache, edgetest.Node+"; hit; ttl=%d", &left); err != nil || left > ttl || left < ttl/2 {
		t.Errorf("got %q, want a hit that is fresh for up to %d seconds", a.cache, ttl)
	}
	a.want(t, status, fmt.Sprintf("hit; ttl=%d", left), body)
}

// Waiting for what the system or another goroutine does.
var (
	eventually = testkit.Eventually
	comesTrue  = testkit.ComesTrue
)
