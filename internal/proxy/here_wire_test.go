package proxy_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// warm is an edge with one connection to its origin at hand, where the fetch of a leader therefore
// begins in the goroutine of that leader. slow plays the origin from the second request on of that
// connection; others are answered at once.
func warm(t *testing.T, yaml string, slow func(*edgetest.Conn)) (*edgetest.Edge, *edgetest.Origin) {
	t.Helper()
	var conns atomic.Int64
	e, app := startBefore(t, yaml, func(c *edgetest.Conn) {
		first := conns.Add(1) == 1
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nquick")
			if first {
				slow(c)
				return
			}
		}
	})
	if a := ask(t, e, asGet("/warm")); a.status != 200 || a.body != "quick" {
		t.Fatalf("to warm up: got %d %q %v", a.status, a.body, a.err)
	}
	return e, app
}

// TestALeaderThatLeavesItsOwnFetchLeavesItToOthers: the fetch goes on for who waits for it.
func TestALeaderThatLeavesItsOwnFetchLeavesItToOthers(t *testing.T) {
	for way, leave := range leavers {
		t.Run(way, func(t *testing.T) {
			say := make(chan struct{})
			e, app := warm(t, always, func(c *edgetest.Conn) {
				for c.Next() != nil {
					<-say
					c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 4\r\n\r\nslow")
				}
			})
			leader, follower := dial(t, e.Address), dial(t, e.Address)
			send := func(s *socket, n float64) {
				if _, err := io.WriteString(s, asGet("/slow")); err != nil {
					t.Fatal(err)
				}
				eventually(t, "it is in flight", func() bool { return e.Metric(t, "edgeproxy_requests_in_flight") == n })
			}
			send(leader, 1)
			eventually(t, "the origin is asked", func() bool { return app.Requests() == 2 })
			send(follower, 2)
			leave(leader.Conn.(*net.TCPConn))
			eventually(t, "it is noticed", func() bool { return e.Metric(t, "edgeproxy_clients_gone_total") == 1 })
			close(say)
			if a := follower.read(); a.status != 200 || a.body != "slow" || !strings.Contains(a.cache, "collapsed") && !strings.Contains(a.cache, "; hit") {
				t.Errorf("follower: got %d %q %q %v, want what the leader's fetch has brought", a.status, a.cache, a.body, a.err)
			}
			eventually(t, "nothing is in flight", func() bool { return e.Metric(t, "edgeproxy_requests_in_flight") == 0 })
			if n := app.Requests(); n != 2 {
				t.Errorf("the origin got %d requests, want 2", n)
			}
		})
	}
}

// TestALeaderInItsOwnFetchIsGivenAnothersHeader: its connection is silent, and a follower has led
// another flight meanwhile, which is answered.
func TestALeaderInItsOwnFetchIsGivenAnothersHeader(t *testing.T) {
	e, app := warm(t, always+"cache: {collapse: {wait: 50ms}}", func(c *edgetest.Conn) {
		c.Next()
		c.UntilClosed()
	})
	leader := dial(t, e.Address)
	if _, err := io.WriteString(leader, asGet("/slow")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the origin is asked", func() bool { return app.Requests() == 2 })
	if a := ask(t, e, asGet("/slow")); a.status != 200 || a.body != "quick" {
		t.Errorf("follower: got %d %q %v", a.status, a.body, a.err)
	}
	if a := leader.read(); a.status != 200 || a.body != "quick" {
		t.Errorf("leader: got %d %q %v, want what the other has brought", a.status, a.body, a.err)
	}
	if n := app.Requests(); n != 3 {
		t.Errorf("the origin got %d requests, want 3", n)
	}
}

// TestALeaderInItsOwnFetchStreamsALargeBody: what has not come with the head comes through the flight.
func TestALeaderInItsOwnFetchStreamsALargeBody(t *testing.T) {
	more := make(chan struct{})
	e, _ := warm(t, always, func(c *edgetest.Conn) {
		c.Next()
		c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 6\r\n\r\nabc")
		<-more
		c.Say("def")
		c.UntilClosed()
	})
	s := dial(t, e.Address)
	res, err := s.head(asGet("/large"))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("got %v %v, want a head before the body is whole", res, err)
	}
	close(more)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "abcdef" {
		t.Errorf("got %q, %v", body, err)
	}
	eventually(t, "it is stored", func() bool { return e.Store.Stats().Objects == 2 })
}
