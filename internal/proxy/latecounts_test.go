package proxy

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/ops/series"
)

// TestLateCountsOfARouteWithoutSeriesGoNowhere: they make no series, also where a route has the
// name again by then.
func TestLateCountsOfARouteWithoutSeriesGoNowhere(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry, MetricsOptions{RouteLabel: true})
	inForce := func(name string) *route {
		r, err := newRoute(&Route{Name: name}, m)
		if err != nil {
			t.Fatal(err)
		}
		m.inForce([]*route{r})
		return r
	}
	counted := func(name string) (n int, requests uint64) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, one := range f.GetMetric() {
				if l := one.GetLabel(); len(l) > 0 && l[len(l)-1].GetValue() == name || len(l) > 1 && l[len(l)-2].GetValue() == name || len(l) > 2 && l[0].GetValue() == name {
					n++
					requests += one.GetHistogram().GetSampleCount()
				}
			}
		}
		return n, requests
	}
	first := inForce("again")
	m.request(&exchange{routed: routed{route: first}, told: told{result: resultHit}}, 200, 0)
	if n, _ := counted("again"); n == 0 {
		t.Fatal("got no series of a route in force")
	}
	for i := range series.Kept + 2 {
		inForce(fmt.Sprint("route", i))
	}
	late := func() {
		m.request(&exchange{routed: routed{route: first}, told: told{result: resultHit}}, 200, 0)
		m.request(&exchange{routed: routed{route: first}, told: told{result: resultMiss}}, 200, 0)
	}
	late()
	if n, _ := counted("again"); n != 0 {
		t.Errorf("after late requests: got %d series, want none", n)
	}
	second := inForce("again")
	late()
	m.request(&exchange{routed: routed{route: second}, told: told{result: resultMiss}}, 200, 0)
	if _, requests := counted("again"); requests != 2 || second == first {
		t.Errorf("got %d observations, want the two of the one that came back", requests)
	}
	if _, all := m.all(); all.requests[resultHit] != 1 {
		t.Errorf("got %d hits in the sums of routes that are gone, want 1", all.requests[resultHit])
	}
}
