package edge

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/test/testkit"
)

// threeListeners is an edge with a plain address, another one, and one with TLS, all of which
// share limits.connections.
func threeListeners(t *testing.T, origin string, connections int) *Edge {
	t.Helper()
	certificate, key := certificateFiles(t)
	c, err := config.Parse("edge.yaml", fmt.Appendf(nil, `
listen: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0"}, {address: "127.0.0.1:0", tls: true}]
tls: {certificates: [{certificate: %q, key: %q}]}
admin: {address: "127.0.0.1:0"}
admission: {policy: always}
origins: {app: {servers: [%q]}}
limits: {connections: %d, header_timeout: 2m}
`, certificate, key, origin, connections))
	if err != nil {
		t.Fatal(err)
	}
	return started(t, c)
}

// connect makes a connection that lives until the end of the test.
func (e *Edge) connect(t *testing.T, listener int) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", e.Addresses()[listener], patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// TestConnectionsAreCountedOnAllListeners: each listener, and each version of HTTP, had
// limits.connections for itself.
func TestConnectionsAreCountedOnAllListeners(t *testing.T) {
	e := threeListeners(t, keptOrigin(t), 3)
	plain := e.connect(t, 0)
	e.connect(t, 1)
	secure := tls.Client(e.connect(t, 2), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err := secure.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three are connected", func() bool { return e.connections.Load() == 3 })

	for listener, want := range []string{"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n", "HTTP/1.1 503 ", ""} {
		c := e.connect(t, listener)
		if text, _ := io.ReadAll(c); !strings.HasPrefix(string(text), want) || want == "" && len(text) > 0 {
			t.Errorf("listener %d: a fourth connection got %q, want %q", listener, text, want)
		}
	}
	if got := e.refusedConnections(); got != 3 {
		t.Errorf("got %d refused connections counted, want 3", got)
	}

	_ = plain.Close()
	_ = secure.Close()
	eventually(t, "one is connected", func() bool { return e.connections.Load() == 1 })
	for range 2 {
		e.keeps(t, 1)
	}
}

// keeps makes a connection with a request that is answered, and waits until it is idle.
func (e *Edge) keeps(t *testing.T, listener int) net.Conn {
	t.Helper()
	before := e.limiter.Waiting()
	c := e.connect(t, listener)
	asks(t, c)
	eventually(t, "the connection is idle", func() bool { return e.limiter.Waiting() > before })
	return c
}

// asks has a connection ask for what is stored.
func asks(t *testing.T, c net.Conn) {
	t.Helper()
	_, _ = io.WriteString(c, "GET /kept/3 HTTP/1.1\r\nHost: www.example.com\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", res, err)
	}
	_ = res.Body.Close()
}

// wantEnd reads the end of a connection on which nothing comes.
func wantEnd(t *testing.T, c net.Conn, which string) {
	t.Helper()
	if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
		t.Errorf("%s: got %q, %v, want it closed", which, b, err)
	}
}

// TestIdleConnectionsMakeRoom: at limits.connections newcomers were refused while others held
// connections that they did not use.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	e := threeListeners(t, keptOrigin(t), 2)
	first, second := e.keeps(t, 0), e.keeps(t, 0)
	asks(t, first) // now the second has waited for longest
	eventually(t, "both are idle", func() bool { return e.limiter.Waiting() == 2 })
	third := e.connect(t, 1)
	asks(t, third)
	wantEnd(t, second, "the one that has waited for longest")
	asks(t, first)
	if got := e.limiter.LetGo().Idle; got != 1 {
		t.Errorf("got %d let go, want 1", got)
	}
	if got := e.refusedConnections(); got != 0 {
		t.Errorf("got %d refused, want none", got)
	}
}

// TestHTTP2WithoutAPrefaceLockedOutItsAddress: at limits.connections the newest connection without a request was refused, by every listener. So
// clients that made their handshake for HTTP/2 and went no further locked out all others with their address.
func TestHTTP2WithoutAPrefaceLockedOutItsAddress(t *testing.T) {
	const connections = 12
	e := threeListeners(t, keptOrigin(t), connections)
	for range connections {
		c := tls.Client(e.connect(t, 2), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err := c.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	asks(t, e.connect(t, 0))
	res, err := testkit.SecureClient(t, e.Addresses()[2], true).Get("https://www.example.com/kept/3")
	if err != nil || res.ProtoMajor != 2 || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200 by HTTP/2", res, err)
	}
	_ = res.Body.Close()
	if got := e.refusedConnections(); got != 0 {
		t.Errorf("got %d refused, want none", got)
	}
}

// TestIdleConnectionsOfTLSMakeRoom: of HTTP/1.1 and of HTTP/2, whose streams are all over.
func TestIdleConnectionsOfTLSMakeRoom(t *testing.T) {
	for _, two := range []bool{false, true} {
		e := threeListeners(t, keptOrigin(t), 1)
		c := testkit.SecureClient(t, e.Addresses()[2], two)
		ask := func() bool {
			res, err := c.Get("https://www.example.com/kept/3")
			if err != nil {
				t.Logf("HTTP/2 %v: %v", two, err)
				return false
			}
			_, _ = io.ReadAll(res.Body) // or the client closes the connection
			_ = res.Body.Close()
			return true
		}
		if !ask() {
			t.Fatal("no answer")
		}
		eventually(t, "the connection is idle", func() bool { return e.limiter.Waiting() == 1 })
		plain := e.connect(t, 0)
		asks(t, plain)
		eventually(t, "the other is closed", func() bool { return e.connections.Load() == 1 && e.limiter.Waiting() == 1 })
		// It connects again, for the other, once the client has seen that its connection is closed.
		eventually(t, "an answer by a new connection", ask)
		wantEnd(t, plain, "the plain one")
		if got := e.limiter.LetGo().Idle; got != 2 {
			t.Errorf("HTTP/2 %v: got %+v let go, want 2 idle", two, e.limiter.LetGo())
		}
	}
}

// TestConnectionsInUseMakeNoRoom: those with a request under way are never let go.
func TestConnectionsInUseMakeNoRoom(t *testing.T) {
	origin, begun, goOn := testkit.SlowOrigin(t)
	e := threeListeners(t, origin, 2)
	h2 := testkit.SecureClient(t, e.Addresses()[2], true)
	var all sync.WaitGroup
	all.Go(func() {
		res, err := h2.Get("https://www.example.com/a")
		if err != nil {
			t.Error(err)
			return
		}
		if b, err := io.ReadAll(res.Body); string(b) != "helloworld" {
			t.Errorf("HTTP/2: got %q, %v", b, err)
		}
	})
	<-begun
	plain := e.connect(t, 0)
	_, _ = io.WriteString(plain, "GET /b HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n")
	<-begun
	if text, _ := io.ReadAll(e.connect(t, 1)); !strings.HasPrefix(string(text), "HTTP/1.1 503 ") {
		t.Errorf("a third connection got %q, want a 503", text)
	}
	close(goOn)
	all.Wait()
	if text, _ := io.ReadAll(plain); !strings.HasSuffix(string(text), "helloworld") {
		t.Errorf("HTTP/1.1: got %q, want the whole", text)
	}
}

// TestRequestsOfHTTP2BeyondTheLimitGetA503: they were reset.
func TestRequestsOfHTTP2BeyondTheLimitGetA503(t *testing.T) {
	const limit, requests = 3, 9
	origin, begun, goOn := testkit.SlowOrigin(t)
	e := threeListeners(t, origin, limit)
	c := testkit.SecureClient(t, e.Addresses()[2], true)
	var all sync.WaitGroup
	statuses := make(chan int, requests)
	ask := func() {
		res, err := c.Get("https://www.example.com/" + fmt.Sprint(len(statuses)))
		if err != nil {
			t.Error(err)
			return
		}
		if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "1" {
			t.Errorf("got %v, want Retry-After", res.Header)
		}
		_, _ = io.Copy(io.Discard, res.Body) // one that leaves makes room
		_ = res.Body.Close()
		statuses <- res.StatusCode
	}
	for range limit {
		all.Go(ask)
		<-begun
	}
	for range requests - limit {
		ask()
		if got := <-statuses; got != http.StatusServiceUnavailable {
			t.Errorf("beyond the limit: got %d, want 503", got)
		}
	}
	close(goOn)
	all.Wait()
	for range limit {
		if got := <-statuses; got != http.StatusOK {
			t.Errorf("within the limit: got %d, want 200", got)
		}
	}
	if got := e.refusedConnections(); got != requests-limit {
		t.Errorf("got %d counted, want %d", got, requests-limit)
	}
	eventually(t, "the places are free", func() bool { return e.streams.Load() == 0 })
	all.Go(ask)
	all.Wait()
	if got := <-statuses; got != http.StatusOK {
		t.Errorf("later: got %d, want 200", got)
	}
}
