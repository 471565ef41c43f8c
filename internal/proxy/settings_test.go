package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/edgetest"
)

// storable answers each request with something to store for an hour.
func storable(c *edgetest.Conn) {
	for c.Next() != nil {
		c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
	}
}

// TestSwapKeepsWhatIsStoredAndCounted: a route that stays goes on with its counters, what is
// stored goes on answering, and a route that goes leaves its counters.
func TestSwapKeepsWhatIsStoredAndCounted(t *testing.T) {
	e, app := startBefore(t, always, storable)
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", "hello")
	reload(t, e, `
cache_status: {send: none}
admission: {policy: never}
routes:
- {name: other, origin: app, match: {path_prefix: /other}}
- {name: default, origin: app}
`)
	if a := ask(t, e, asGet("/a")); a.cache != "" || a.body != "hello" || app.Requests() != 1 {
		t.Errorf("after a swap: got %+v and %d requests to the origin, want a hit without Cache-Status", a, app.Requests())
	}
	ask(t, e, asGet("/b")) // is held back
	ask(t, e, asGet("/other"))
	reload(t, e, always)
	ask(t, e, asGet("/a")).wantHit(t, 200, "hello")
	ask(t, e, asGet("/b")).want(t, 200, "fwd=uri-miss; stored", "hello")
	eventually(t, "all are counted", func() bool { return e.Proxy.Status().Totals.Requests == 6 })
	for route, want := range map[string][2]float64{"default": {2, 2}, "other": {0, 0}} {
		hits := e.Metric(t, "edgeproxy_requests_total", "route="+route, "result=hit", "status=2xx")
		misses := e.Metric(t, "edgeproxy_requests_total", "route="+route, "result=miss", "status=2xx")
		if hits != want[0] || misses != want[1] {
			t.Errorf("route %s: got %v hits and %v misses, want %v", route, hits, misses, want)
		}
	}
	s := e.Proxy.Status()
	if f := s.Totals.Fills; len(s.Routes) != 1 || s.Totals.Requests != 6 || f.Storable != 4 || f.HeldBack != 2 || f.Saved != 0 {
		t.Errorf("got %d routes, %d requests, %+v; want one route, and all that there was in the totals", len(s.Routes), s.Totals.Requests, f)
	}
}

// TestSwapLeavesRequestsUnderWayAlone: they end by the settings they began with.
func TestSwapLeavesRequestsUnderWayAlone(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			close(begun)
			<-goOn
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	s := dial(t, e.Address)
	if _, err := io.WriteString(s, asGet("/a")); err != nil {
		t.Fatal(err)
	}
	<-begun
	reload(t, e, always+`
cache_status: {send: none}
limits: {requests_in_flight: 1}
routes: [{name: elsewhere, origin: app, match: {hosts: [elsewhere.test]}}]
`)
	if a := ask(t, e, asGet("/a")); a.status != 404 || a.cache != "" {
		t.Errorf("a new request: got %+v, want 404, for it has no route any more", a)
	}
	close(goOn)
	s.read().want(t, 200, "fwd=uri-miss; stored", "hello")
	eventually(t, "the last request of the route that is gone is counted", func() bool {
		return e.Metric(t, "edgeproxy_requests_total", "route=default", "result=miss", "status=2xx") == 1
	})
}

// TestSwapThatCannotWorkChangesNothing, not even the metrics.
func TestSwapThatCannotWorkChangesNothing(t *testing.T) {
	app := edgetest.StartOrigin(t, nil, storable)
	e := start(t, always, edgetest.Options{Origin: app.Address, Adjust: func(c *config.Config) {
		for i := range c.Routes {
			if c.Routes[i].Name == "bad" {
				c.Routes[i].Cache.SliceBytes = 1 << 40
			}
		}
	}})
	_, err := e.Reload(always + `
cache_status: {send: none}
routes:
- {name: default, origin: app, match: {path_prefix: /a}}
- {name: bad, origin: app}
`)
	if err == nil || !strings.Contains(err.Error(), "cache.slice: ") {
		t.Errorf("got %v, want what is wrong with the route", err)
	}
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", "hello")
	families, err := e.Metrics().Gather()
	if err != nil || strings.Contains(fmt.Sprint(families), `"bad"`) {
		t.Errorf("got error %v, or a series of a route that never was", err)
	}
}

// TestSwapKeepsWhatClientsHaveUsedOfTheirRate: also where the route is not the first any more.
func TestSwapKeepsWhatClientsHaveUsedOfTheirRate(t *testing.T) {
	const rate = "limits: {rate: {requests: 2, per: 1h, burst: 2}}\n"
	e, _ := startBefore(t, rate, storable)
	ask(t, e, asGet("/a"))
	ask(t, e, asGet("/a"))
	reload(t, e, rate+`routes:
- {name: first, origin: app, match: {path_prefix: /first}}
- {name: default, origin: app}
`)
	if a := ask(t, e, asGet("/a")); a.status != 429 {
		t.Errorf("got %d, want 429: the client has asked twice in this hour", a.status)
	}
	if a := ask(t, e, asGet("/first")); a.status != 200 {
		t.Errorf("the other route: got %d, want 200", a.status)
	}
}

// TestSwapAmongRequests: each request is answered by one of the settings, whole.
func TestSwapAmongRequests(t *testing.T) {
	e, _ := startBefore(t, always, storable)
	over := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
			}
			if _, err := e.Reload(fmt.Sprintf(always+`
limits: {ranges: %d}
routes:
- {name: other%d, origin: app, match: {path_prefix: /other}}
- {name: default, origin: app, limits: {rate: {requests: 1000000}}}
`, 1+i%3, i%3)); err != nil {
				t.Error(err)
			}
		}
	})
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			s := dial(t, e.Address)
			for i := range 200 {
				if a := s.ask(asGet(fmt.Sprintf("/%s/%d", []string{"other", "a"}[i%2], (i+c)%10))); a.err != nil || a.status != 200 || a.body != "hello" {
					t.Errorf("got %+v", a)
					return
				}
			}
		})
	}
	clients.Wait()
	close(over)
	swaps.Wait()
	eventually(t, "each is counted once", func() bool { return e.Proxy.Status().Totals.Requests == 800 })
}
