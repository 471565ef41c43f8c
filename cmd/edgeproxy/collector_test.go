package main

import (
	"fmt"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// What we send is taken by the receiver that most operators have: that of the OpenTelemetry collector. It
// looks at more than a decoder does, and what it has taken it prints.
func TestTheCollectorTakesWhatWeSend(t *testing.T) {
	t.Parallel()
	program(t) // which leaves the test to another run before the collector is built
	testkit.Changed(t, "tools/collector", "internal/ops/spans", "internal/test/testkit/collector.go", "internal/proxy/*span*.go", "internal/edge/*trac*.go", "cmd/edgeproxy/collector_test.go")
	collector := testkit.StartCollector(t)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nadmission: {policy: always}\ntracing: {endpoint: %q, sample: 1, most_per_second: 1000, service_name: shop}\n",
		cachedOrigin(t), collector.Endpoint))
	get(t, "http://"+c.address+"/a?b=1")
	get(t, "http://"+c.address+"/a?b=1")
	const all = 7 // spans: six of a miss on a new connection, one of a hit
	kinds := map[string]int{}
	byName := map[string]testkit.Span{}
	for _, s := range collector.Await(all) {
		kinds[s.Kind+" "+s.Name]++
		byName[s.Kind+" "+s.Name] = s
		if len(s.Trace) != 32 || len(s.ID) != 16 || s.Start.IsZero() || s.End.Before(s.Start) || s.Resource["service.name"] != "shop" {
			t.Errorf("got %+v", s)
		}
	}
	for name, n := range map[string]int{
		"SERVER GET": 2, "CLIENT GET": 1, "INTERNAL connect": 1, "INTERNAL first_byte": 1, "INTERNAL body": 1, "INTERNAL store": 1,
	} {
		if kinds[name] != n {
			t.Errorf("got %v, want %d of %s", kinds, n, name)
		}
	}
	fetch := byName["CLIENT GET"]
	if got := byName["INTERNAL body"].Parent; got != fetch.ID || fetch.Attributes["http.response.status_code"] != "200" || fetch.Attributes["edgeproxy.origin"] != "app" {
		t.Errorf("got %+v, and a body of %s", fetch, got)
	}
	eventually(t, "all are counted as taken", func() bool { return c.metric("edgeproxy_tracing_spans_total") == all })
}
