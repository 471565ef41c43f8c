package proxy_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
)

// silentOrigin answers /quick, and nothing else until the test ends.
func silentOrigin(c *edgetest.Conn) {
	for r := c.Next(); r != nil; r = c.Next() {
		if r.RequestURI != "/quick" {
			c.UntilClosed()
			return
		}
		c.Say("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
	}
}

// leavers are ways to leave that the system tells of.
var leavers = map[string]func(c *net.TCPConn){
	"reset": func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
	"close": func(c *net.TCPConn) { _ = c.Close() },
}

// TestClientsThatLeaveFreeTheirConnections: sixty clients send a request and leave. They would hold all
// sixteen connections to the origin, and the queue, until it answers.
func TestClientsThatLeaveFreeTheirConnections(t *testing.T) {
	for way, leave := range leavers {
		for name, request := range map[string]string{
			"a miss":          "GET /slow%d HTTP/1.1\r\nHost: edge.test\r\n\r\n",
			"a pass":          "GET /slow%d HTTP/1.1\r\nHost: edge.test\r\nCache-Control: no-store\r\n\r\n",
			"alone":           "HEAD /slow%d HTTP/1.1\r\nHost: edge.test\r\n\r\n",
			"a range":         "GET /slow%d HTTP/1.1\r\nHost: edge.test\r\nRange: bytes=1-\r\n\r\n",
			"a body":          "POST /slow%d HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 1\r\n\r\nx",
			"an upgrade":      "GET /slow%d HTTP/1.1\r\nHost: edge.test\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
			"one in HTTP/1.0": "GET /slow%d HTTP/1.0\r\nHost: edge.test\r\n\r\n",
			"another behind":  "GET /slow%[1]d HTTP/1.1\r\nHost: edge.test\r\n\r\nGET /slow%[1]d HTTP/1.1\r\nHost: edge.test\r\n\r\n",
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				e, _ := startBefore(t, `
origins: {app: {servers: ["http://{origin}"], max_connections: 16, queue: {requests: 100, wait: 1h}}}
limits: {origin_share: 1} # the clients have one address
`, silentOrigin)
				leaveAfter(t, e, request, leave)
				if a := ask(t, e, asGet("/quick")); a.status != 200 {
					t.Errorf("another client: got %d %q %v, want 200", a.status, a.cache, a.err)
				}
				for _, gauge := range []string{"edgeproxy_origin_queue_requests", "edgeproxy_origin_connections"} {
					labels := []string{"origin=app"}
					if gauge == "edgeproxy_origin_connections" {
						labels = append(labels, "state=active")
					}
					eventually(t, gauge+" is 0", func() bool { return e.Metric(t, gauge, labels...) == 0 })
				}
				eventually(t, "nothing is in flight", func() bool { return e.Metric(t, "edgeproxy_requests_in_flight") == 0 })
				if n := e.Metric(t, "edgeproxy_requests_total", "route=default", "result=error", "status=4xx"); n < 60 {
					t.Errorf("%v requests were recorded as left, want 60", n)
				}
			})
		}
	}
}

// leaveAfter sends a request by sixty clients, which leave once they wait.
func leaveAfter(t *testing.T, e *edgetest.Edge, request string, leave func(c *net.TCPConn)) {
	t.Helper()
	var clients []*socket
	for i := range 60 {
		s := dial(t, e.Address)
		if _, err := io.WriteString(s, fmt.Sprintf(request, i)); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, s)
	}
	eventually(t, "all are in flight", func() bool { return e.Metric(t, "edgeproxy_requests_in_flight") >= 60 })
	for _, s := range clients {
		leave(s.Conn.(*net.TCPConn))
	}
}

// TestAClientThatIsGoneEndsASilentBody: the origin says no more, so no write would tell.
func TestAClientThatIsGoneEndsASilentBody(t *testing.T) {
	var ended atomic.Int64
	e, _ := startBefore(t, "cache: {uncacheable_for: 1m}", func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
			c.UntilClosed()
			ended.Add(1)
		}
	})
	for i, version := range []string{"1.1", "1.0", "1.1"} { // the last one under a mark
		for way, leave := range leavers {
			before := ended.Load()
			s := dial(t, e.Address)
			if _, err := s.head("GET /a HTTP/" + version + "\r\nHost: edge.test\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			leave(s.Conn.(*net.TCPConn))
			eventually(t, fmt.Sprint(i, way, ": the origin sees the end"), func() bool { return ended.Load() == before+1 })
		}
	}
}

// TestAHalfClosedClientGetsItsResponse: a client that has only closed its sending side still reads.
func TestAHalfClosedClientGetsItsResponse(t *testing.T) {
	e, _ := startBefore(t, "", func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 10\r\n\r\n")
			beat := time.NewTicker(100 * time.Millisecond)
			for range 10 {
				<-beat.C
				c.Say("x")
			}
			beat.Stop()
		}
	})
	s := dial(t, e.Address)
	if _, err := io.WriteString(s, asGet("/a")); err != nil {
		t.Fatal(err)
	}
	if err := s.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	s.read().want(t, 200, "fwd=uri-miss; detail=no-store", "xxxxxxxxxx")
}

// TestWhatIsStoredGoesOnWithoutItsClient.
func TestWhatIsStoredGoesOnWithoutItsClient(t *testing.T) {
	more := make(chan struct{})
	e, app := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			<-more
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	s := dial(t, e.Address)
	if _, err := io.WriteString(s, asGet("/a")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the origin is asked", func() bool { return app.Requests() == 1 })
	leavers["reset"](s.Conn.(*net.TCPConn))
	eventually(t, "it is noticed", func() bool { return e.Metric(t, "edgeproxy_clients_gone_total") == 1 })
	close(more)
	eventually(t, "it is stored", func() bool { return e.Store.Stats().Objects == 1 })
	if a := ask(t, e, asGet("/a")); a.status != 200 || !strings.Contains(a.cache, "; hit;") || a.body != "ok" {
		t.Errorf("got %d %q %q, want a hit", a.status, a.cache, a.body)
	}
}
