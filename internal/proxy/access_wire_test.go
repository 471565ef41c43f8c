package proxy_test

import (
	"testing"

	"edgeproxy/internal/edgetest"
	"edgeproxy/internal/proxy"
)

// TestDotsLedToWhatNoRouteIsFor: the routes name all that is served, and the origin read a path that none is for.
func TestDotsLedToWhatNoRouteIsFor(t *testing.T) {
	e, app := startBefore(t, edgetest.Options{Rule: always()}, storable)
	mustSwap(t, e, func(l *proxy.Live) { l.Routes[0].PathPrefixes = []string{"/open", "/public"} })
	f := func(path string, status int, detail, body string) {
		t.Helper()
		ask(t, e, asGet(path)).want(t, status, detail, body)
	}
	f("/admin", 404, "detail=no-route", "Not Found\n")
	f("/admin/../open", 403, "detail=ambiguous-path", "Forbidden\n")
	f("//open", 403, "detail=ambiguous-path", "Forbidden\n") // some origins take open for a host
	if app.Requests() != 0 {
		t.Errorf("the origin got %d requests, want none", app.Requests())
	}
	f("/open//x", 200, "fwd=bypass; detail=ambiguous-path", "hello")
	mustSwap(t, e, func(l *proxy.Live) { l.Routes[0].PathPrefixes = []string{"/"} })
	f("/admin/../open", 200, "fwd=bypass; detail=ambiguous-path", "hello")
}
