package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/ops/series"
	"edgeproxy/internal/test/edgetest"
)

// only has one route of this name.
func only(route string) (yaml string) {
	return fmt.Sprintf("%sroutes: [{name: %s, origin: app}]\n", always, route)
}

// seriesOf counts the series of all routes, and those of one.
func seriesOf(t *testing.T, e *edgetest.Edge, route string) (all, one int) {
	t.Helper()
	families, err := e.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "route" {
					all++
					one += strings.Count("\n"+l.GetValue()+"\n", "\n"+route+"\n")
				}
			}
		}
	}
	return all, one
}

// Names that change with every reload filled /metrics, and memory, without end. The last ones
// have their series, and so has one that still answers a request; what the others counted is in
// the totals.
func TestSeriesOfRemovedRoutesAreDropped(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(goOn) })
	defer end()
	e, _ := startBefore(t, only("slow"), func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			if r.RequestURI == "/slow" {
				close(begun)
				<-goOn
			}
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	slow := dial(t, e.Address)
	if _, err := io.WriteString(slow, asGet("/slow")); err != nil {
		t.Fatal(err)
	}
	<-begun
	const names = 2 * series.Kept
	for i := range names {
		reload(t, e, only(fmt.Sprint("route", i)))
		ask(t, e, asGet("/a"))
	}
	eventually(t, "all but the slow one are counted", func() bool { return e.Proxy.Status().Totals.Requests == names })
	for route, want := range map[string]bool{"route0": false, "route60": false, "route70": true, "route127": true, "slow": true} {
		if _, n := seriesOf(t, e, route); (n > 0) != want {
			t.Errorf("%s: got %d series, want some: %v", route, n, want)
		}
	}
	end()
	slow.read().want(t, 200, "fwd=uri-miss; stored", "hello")
	eventually(t, "the slow request is counted under its route", func() bool {
		return e.Metric(t, "edgeproxy_requests_total", "route=slow", "result=miss", "status=2xx") == 1
	})
	before, _ := seriesOf(t, e, "")
	reload(t, e, only("again"))
	reload(t, e, only("slow"))
	reload(t, e, only("again"))
	ask(t, e, asGet("/a"))
	if after, n := seriesOf(t, e, "slow"); n == 0 || after > before {
		t.Errorf("got %d series, %d before, %d of a route that came back and went again", after, before, n)
	}
	eventually(t, "the totals have all that there was", func() bool {
		s := e.Proxy.Status().Totals
		return s.Requests == names+2 && s.Classes["2xx"] == names+2 && s.Results["hit"] == names && s.Fills.Stored == 2
	})
}
