package proxy_test

import (
	"strings"
	"testing"

	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/proxy"
	edgetest "edgeproxy/internal/test/oldrig"
	"edgeproxy/internal/test/testkit"
)

// The health checks of load balancers were counted with the result pass, had a line in the log, and a span.
func TestLivezIsCountedAsARequest(t *testing.T) {
	var lines testkit.Buffer
	log, err := accesslog.New(&lines, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := newTraced(t, edgetest.Options{Rule: oldAlways(), Livez: true, AccessLog: log, Sampler: spans.NewSampler(1, 1000)}, nil)
	for _, head := range []string{
		"GET /livez HTTP/1.1\r\n", "GET /livez?x=1 HTTP/1.1\r\n", "HEAD /livez HTTP/1.1\r\n", "GET /livez HTTP/1.0\r\n",
		"GET /livez HTTP/1.1\r\nExpect: 100-continue\r\n", "GET /a HTTP/1.1\r\n",
	} {
		if got := e.ask(head); got != 200 {
			t.Errorf("%q: got %d, want 200", head, got)
		}
	}
	testkit.Eventually(t, "no request is in flight", func() bool { return e.Metric(t, "edgeproxy_requests_in_flight") == 0 })
	var counted float64
	for _, result := range proxy.Results() {
		for _, route := range []string{"-", "default"} {
			for _, status := range []string{"none", "2xx", "4xx", "5xx"} {
				counted += e.Metric(t, "edgeproxy_requests_total", "result="+result, "route="+route, "status="+status)
			}
		}
	}
	if counted != 1 {
		t.Errorf("edgeproxy_requests_total: got %v, want 1, of /a", counted)
	}
	for _, s := range e.all() {
		if s.Kind == "SERVER" && s.Attributes["url.path"] != "/a" {
			t.Errorf("got a span of %v", s.Attributes["url.path"])
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got := lines.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"target":"/a"`) {
		t.Errorf("got the lines %s, want one of /a", got)
	}
}
