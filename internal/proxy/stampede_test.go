package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// stampeding returns how many clients come at once.
func stampeding() int { return testkit.Times(1000, 200) }

// stampede sends request from n clients at once and calls each with every answer,
// from the client's goroutine.
func stampede(t *testing.T, e *edgetest.Edge, n int, request string, each func(answer)) {
	t.Helper()
	var clients sync.WaitGroup
	for range n {
		s := dial(t, e.Address)
		clients.Go(func() {
			each(s.ask(request))
			_ = s.Close()
		})
	}
	clients.Wait()
}

// TestStampedeOnANewKeyIsOneFetch: the origin answers only when all clients wait,
// and then slowly.
func TestStampedeOnANewKeyIsOneFetch(t *testing.T) {
	n := stampeding()
	const pieces, piece = 64, 4 << 10 // 256 MB to all clients
	ready := make(chan struct{})
	e, app := startBefore(t, "", func(c *edgetest.Conn) {
		for c.Next() != nil {
			<-ready
			c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: %d\r\n\r\n", pieces*piece))
			for i := range pieces {
				c.Say(strings.Repeat(string(rune('a'+i%26)), piece))
			}
		}
	})
	var want strings.Builder
	for i := range pieces {
		want.WriteString(strings.Repeat(string(rune('a'+i%26)), piece))
	}
	go func() {
		defer close(ready)
		_ = comesTrue(func() bool { return e.Proxy.Status().RequestsInFlight >= int64(n) })
	}()
	var broken, notShared atomic.Int64
	stampede(t, e, n, asGet("/new"), func(a answer) {
		if a.err != nil || a.status != 200 || a.body != want.String() {
			broken.Add(1)
		}
		// One that is slow to join may find the response stored.
		if !strings.HasSuffix(a.cache, "fwd=uri-miss; stored; collapsed") && !strings.Contains(a.cache, "; hit; ") {
			notShared.Add(1)
		}
	})
	if broken.Load() > 0 {
		t.Errorf("%d of %d clients got no whole body", broken.Load(), n)
	}
	if notShared.Load() != 1 {
		t.Errorf("%d clients were not served by another's fetch, want the leader alone", notShared.Load())
	}
	if app.Requests() != 1 {
		t.Errorf("got %d origin requests, want 1", app.Requests())
	}
	if a := ask(t, e, asGet("/new")); !strings.Contains(a.cache, "; hit; ttl=") || a.body != want.String() || app.Requests() != 1 {
		t.Errorf("the next request: got %q, %d bytes, %d origin requests; want a hit", a.cache, len(a.body), app.Requests())
	}
}

// TestStampedeOnNoStoreServesEveryClientSideBySide: the first body is held back
// until all others are served, so a client that waited for it would never be served. The
// others are held back until many are under way.
func TestStampedeOnNoStoreServesEveryClientSideBySide(t *testing.T) {
	n := stampeding()
	together := n / 4
	const body = 64 << 10
	var arrived, served atomic.Int64
	many, others := make(chan struct{}), make(chan struct{})
	e, app := startBefore(t, `
cache: {uncacheable_for: 1h}
limits: {origin_share: 1} # the clients have one address
origins: {app: {servers: ["http://{origin}"], queue: {wait: 1h}}}
`, func(c *edgetest.Conn) {
		for c.Next() != nil {
			number := arrived.Add(1)
			if number == int64(together) {
				close(many)
			}
			c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n", body))
			if number == 1 {
				wait(others)
			} else {
				wait(many)
			}
			c.Say(strings.Repeat("x", body))
		}
	})
	var broken atomic.Int64
	stampede(t, e, n, asGet("/live"), func(a answer) {
		if a.err != nil || a.status != 200 || len(a.body) != body || !strings.HasSuffix(a.cache, "fwd=uri-miss; detail=no-store") {
			broken.Add(1)
			t.Logf("got %d %q %d bytes %v", a.status, a.cache, len(a.body), a.err)
		}
		if served.Add(1) == int64(n-1) {
			close(others)
		}
	})
	if broken.Load() > 0 {
		t.Errorf("%d of %d clients were not served", broken.Load(), n)
	}
	if app.Requests() != n {
		t.Errorf("got %d origin requests, want %d, one for each client", app.Requests(), n)
	}
	if writes := e.Store.Stats().Writes; writes != 0 {
		t.Errorf("got %d writes of a no-store response, want 0", writes)
	}
}

// wait waits for c, or until the test has failed anyway.
func wait(c <-chan struct{}) {
	select {
	case <-c:
	case <-time.After(patience):
	}
}
