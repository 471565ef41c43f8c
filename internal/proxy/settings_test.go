package proxy_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/rate"
	edgetest "edgeproxy/internal/test/oldrig"
)

// storable answers each request with something to store for an hour.
func storable(c *edgetest.Conn) {
	for c.Next() != nil {
		c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
	}
}

// swap puts what change makes of the settings of the start in their place.
func swap(t *testing.T, e *edgetest.Edge, change func(*proxy.Live)) error {
	t.Helper()
	l := e.Live
	l.Routes = slices.Clone(l.Routes)
	change(&l)
	return e.Proxy.Swap(l)
}

func mustSwap(t *testing.T, e *edgetest.Edge, change func(*proxy.Live)) {
	t.Helper()
	if err := swap(t, e, change); err != nil {
		t.Fatal(err)
	}
}

// TestSwapKeepsWhatIsStoredAndCounted: a route that stays goes on with its counters, what is
// stored goes on answering, and a route that goes leaves its counters.
func TestSwapKeepsWhatIsStoredAndCounted(t *testing.T) {
	e, app := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, storable)
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", "hello")
	mustSwap(t, e, func(l *proxy.Live) {
		l.CacheStatus = false
		l.Routes[0].Rule.Policy = admission.Never
		other := l.Routes[0]
		other.Name, other.PathPrefixes = "other", []string{"/other"}
		l.Routes = []proxy.Route{other, l.Routes[0]}
	})
	if a := ask(t, e, asGet("/a")); a.cache != "" || a.body != "hello" || app.Requests() != 1 {
		t.Errorf("after a swap: got %+v and %d requests to the origin, want a hit without Cache-Status", a, app.Requests())
	}
	ask(t, e, asGet("/b")) // is held back
	ask(t, e, asGet("/other"))
	mustSwap(t, e, func(*proxy.Live) {})
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
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, func(c *edgetest.Conn) {
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
	mustSwap(t, e, func(l *proxy.Live) { l.Routes, l.CacheStatus, l.RequestsInFlight = nil, false, 0 })
	if a := ask(t, e, asGet("/a")); a.status != 404 || a.cache != "" {
		t.Errorf("a new request: got %+v, want 404, for there is no route any more", a)
	}
	close(goOn)
	s.read().want(t, 200, "fwd=uri-miss; stored", "hello")
	eventually(t, "the last request of the route that is gone is counted", func() bool {
		return e.Metric(t, "edgeproxy_requests_total", "route=default", "result=miss", "status=2xx") == 1
	})
}

// TestSwapThatCannotWorkChangesNothing, not even the metrics.
func TestSwapThatCannotWorkChangesNothing(t *testing.T) {
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, storable)
	err := swap(t, e, func(l *proxy.Live) {
		l.CacheStatus = false
		bad := l.Routes[0]
		bad.Name, bad.SliceBytes = "bad", 1<<40
		l.Routes = append(l.Routes, bad)
	})
	if err == nil || !strings.Contains(err.Error(), "route bad: slices of") {
		t.Errorf("got %v, want what is wrong with the route", err)
	}
	ask(t, e, asGet("/a")).want(t, 200, "fwd=uri-miss; stored", "hello")
	families, err := e.Registry.Gather()
	if err != nil || strings.Contains(fmt.Sprint(families), `"bad"`) {
		t.Errorf("got error %v, or a series of a route that never was", err)
	}
}

// TestSwapKeepsWhatClientsHaveUsedOfTheirRate: also where the route is not the first any more.
func TestSwapKeepsWhatClientsHaveUsedOfTheirRate(t *testing.T) {
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways(), Rate: rate.Per(2, time.Hour, 2)}, storable)
	ask(t, e, asGet("/a"))
	ask(t, e, asGet("/a"))
	mustSwap(t, e, func(l *proxy.Live) {
		first := l.Routes[0]
		first.Name, first.PathPrefixes = "first", []string{"/first"}
		l.Routes = []proxy.Route{first, l.Routes[0]}
	})
	if a := ask(t, e, asGet("/a")); a.status != 429 {
		t.Errorf("got %d, want 429: the client has asked twice in this hour", a.status)
	}
	if a := ask(t, e, asGet("/first")); a.status != 200 {
		t.Errorf("the other route: got %d, want 200", a.status)
	}
}

// TestSwapAmongRequests: each request is answered by one of the settings, whole.
func TestSwapAmongRequests(t *testing.T) {
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, storable)
	over := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
			}
			if err := swap(t, e, func(l *proxy.Live) {
				other := l.Routes[0]
				other.Name, other.PathPrefixes = fmt.Sprint("other", i%3), []string{"/other"}
				l.Routes, l.Ranges = []proxy.Route{other, l.Routes[0]}, i%3
				l.Routes[1].Rate = rate.Per(1000000, time.Second, 0)
			}); err != nil {
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
