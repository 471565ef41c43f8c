package proxy_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	edgetest "edgeproxy/internal/test/oldrig"
	"edgeproxy/internal/test/testkit"
)

// Tests over real sockets: what virtual time and pipes cannot show. connectionPatience is for all that a client does on a
// connection: on a busy machine that may be much.
const (
	patience           = testkit.Patience
	connectionPatience = 10 * patience
)

// always admits what is storable.
func always() admission.Rule { return admission.Rule{Policy: admission.Always} }

// start starts an edge. What o says nothing of may take long: on a busy machine a short time would end what the test is about.
func start(t testing.TB, o edgetest.Options) *edgetest.Edge {
	t.Helper()
	for _, limit := range []*time.Duration{
		&o.CollapseWait, &o.WriteIdleTimeout, &o.ReadIdleTimeout, &o.HeaderTimeout, &o.Origin.ConnectTimeout, &o.Origin.FirstByteTimeout, &o.Origin.IdleTimeout,
	} {
		*limit = cmp.Or(*limit, time.Hour)
	}
	return edgetest.Start(t, o)
}

// startBefore starts an edge before an origin that plays script.
func startBefore(t testing.TB, o edgetest.Options, script func(*edgetest.Conn)) (*edgetest.Edge, *edgetest.Origin) {
	t.Helper()
	app := edgetest.StartOrigin(t, nil, script)
	o.Origin.Address = app.Address
	return start(t, o), app
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
