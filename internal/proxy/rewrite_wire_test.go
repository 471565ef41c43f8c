package proxy_test

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// rewrites has a route take /api away and put /v2 there.
const rewrites = "routes: [{name: default, origin: app, match: {path_prefix: /api}, rewrite: {strip_prefix: /api, add_prefix: /v2}}]\n"

func TestUpgradesAreRewritten(t *testing.T) {
	asked := make(chan *edgetest.Request, 1)
	e, _ := startBefore(t, rewrites, func(c *edgetest.Conn) {
		asked <- c.Next()
		c.Say(switched101)
		echoes(c)
	})
	s := dial(t, e.Address)
	if res, err := s.head(strings.Replace(asks101, "GET /", "GET /api/", 1)); err != nil || res.StatusCode != 101 {
		t.Fatalf("got %v, %v", res, err)
	}
	if r := <-asked; !strings.HasPrefix(r.RequestURI, "/v2/") {
		t.Errorf("the origin was asked for %s", r.RequestURI)
	}
	s.exchange(t, "hello")
}
