package proxy_test

import (
	"strings"
	"testing"

	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/rewrite"
	edgetest "edgeproxy/internal/test/oldrig"
)

// rewrites has the route of e take /api away and put /v2 there.
func rewrites(t *testing.T, e *edgetest.Edge) {
	t.Helper()
	mustSwap(t, e, func(l *proxy.Live) {
		l.Routes[0].PathPrefixes, l.Routes[0].Rewrite = []string{"/api"}, rewrite.New("/api", "/v2", true, nil)
	})
}

func TestUpgradesAreRewritten(t *testing.T) {
	asked := make(chan *edgetest.Request, 1)
	e, _ := startOldBefore(t, edgetest.Options{Rule: oldAlways()}, func(c *edgetest.Conn) {
		asked <- c.Next()
		c.Say(switched101)
		echoes(c)
	})
	rewrites(t, e)
	s := dial(t, e.Address)
	if res, err := s.head(strings.Replace(asks101, "GET /", "GET /api/", 1)); err != nil || res.StatusCode != 101 {
		t.Fatalf("got %v, %v", res, err)
	}
	if r := <-asked; !strings.HasPrefix(r.RequestURI, "/v2/") {
		t.Errorf("the origin was asked for %s", r.RequestURI)
	}
	s.exchange(t, "hello")
}
