package proxy_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/testkit"
)

// The health checks of load balancers were counted with the result pass, had a line in the log, and a span.
func TestLivezIsCountedAsARequest(t *testing.T) {
	receiver := testkit.NewSpanReceiver(t)
	at := httptest.NewServer(receiver)
	t.Cleanup(at.Close)
	log := filepath.Join(t.TempDir(), "access.log")
	e, _ := startBefore(t, fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", livez: true}]
access_log: {path: %q}
tracing: {endpoint: %q, sample: 1, most_per_second: 1000}
`, log, at.URL), storable)
	for _, head := range []string{
		"GET /livez HTTP/1.1\r\n", "GET /livez?x=1 HTTP/1.1\r\n", "HEAD /livez HTTP/1.1\r\n", "GET /livez HTTP/1.0\r\n",
		"GET /livez HTTP/1.1\r\nExpect: 100-continue\r\n", "GET /a HTTP/1.1\r\n",
	} {
		s := dial(t, e.Address)
		res, err := s.head(head + "Host: shop.example:8080\r\nConnection: close\r\n\r\n")
		if err != nil || res.StatusCode != 200 {
			t.Errorf("%q: got %v, %v, want 200", head, res, err)
		}
		_ = s.Close()
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
	testkit.Eventually(t, "no request is under way", func() bool { return e.Proxy.InFlight() == 0 })
	e.Stop()
	list := receiver.Spans()
	wantWellFormed(t, list)
	for _, s := range list {
		if s.Kind == "SERVER" && s.Attributes["url.path"] != "/a" {
			t.Errorf("got a span of %v", s.Attributes["url.path"])
		}
	}
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(lines); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"target":"/a"`) {
		t.Errorf("got the lines %s, want one of /a", got)
	}
}
