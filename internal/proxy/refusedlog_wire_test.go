package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// A request that was refused before it was parsed whole was logged as one for / by HTTP/1.0, without method and host.
func TestMalformedRequestIsLoggedAsAnother(t *testing.T) {
	f := func(request string, status int, want string) {
		t.Helper()
		log := filepath.Join(t.TempDir(), "access.log")
		e := start(t, fmt.Sprintf("access_log: {path: %q}", log), hitOrigin(t))
		if a := ask(t, e, request); a.status != status {
			t.Errorf("%.60q: got %d, want %d", request, a.status, status)
		}
		testkit.Eventually(t, "no request is in flight", func() bool { return e.Proxy.InFlight() == 0 })
		if got := e.Metric(t, "edgeproxy_requests_total", "route=-", "result=error", "status=4xx"); got != 1 {
			t.Errorf("%.60q: %v were counted, want 1", request, got)
		}
		e.Stop()
		lines, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		got := string(lines)
		for field := range strings.SplitSeq(want, " ") {
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, field) {
				t.Errorf("%.60q: got the lines %s, want one with %s", request, got, field)
			}
		}
	}
	f("GET /a?b HTTP/1.1\r\nHost: edge.test\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n", 431,
		`"host":"edge.test","target":"/a?b","method":"GET" "route":"" "protocol":"HTTP/1.1"`)
	f("POST /a HTTP/1.1\r\n\r\n", 400, `"host":"","target":"/a","method":"POST" "protocol":"HTTP/1.1"`)
	f("GET /a HTTP/1.2\r\nHost: edge.test\r\n\r\n", 400, `"host":"edge.test","target":"/a","method":"GET" "protocol":"HTTP/1.2"`)
	f("gar\"bage\r\n\r\n", 400, `"host":"","target":"gar\"bage","method":"" "protocol":""`)
}
