package proxy_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestAFailureThatAStaleResponseCoversWasNotLogged: the first failures of an outage were seen in metrics alone.
func TestAFailureThatAStaleResponseCoversWasNotLogged(t *testing.T) {
	var gone atomic.Bool
	var log testkit.Buffer
	app := edgetest.StartOrigin(t, nil, func(c *edgetest.Conn) {
		if r := c.Next(); r != nil {
			control := "max-age=1, stale-if-error=600"
			if r.URL.Path == "/refreshed" {
				control = "max-age=1, stale-while-revalidate=600, stale-if-error=600"
			}
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: " + control + "\r\nAge: 2\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	e := start(t, always, edgetest.Options{Origin: app.Address, Log: &log, Seams: edge.Seams{Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
		if gone.Load() {
			return nil, errors.New("nobody is there")
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}})
	for _, path := range []string{"/covered", "/refreshed"} {
		gone.Store(false)
		ask(t, e, asGet(path))
		gone.Store(true)
		if a := ask(t, e, asGet(path)); a.status != 200 || a.body != "ok" {
			t.Fatalf("%s: got %d %q, want the stale response", path, a.status, a.body)
		}
		testkit.Eventually(t, "the log has the failure of "+path, func() bool {
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "fetch failed") && strings.Contains(line, "edge.test") && strings.Contains(line, path) &&
					strings.Contains(line, "127.0.0.1") && strings.Contains(line, "nobody is there") && strings.Contains(line, app.Address) {
					return true
				}
			}
			return false
		})
	}
}
