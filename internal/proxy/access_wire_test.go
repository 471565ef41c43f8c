package proxy_test

import (
	"testing"

	"edgeproxy/internal/proxy"
	edgetest "edgeproxy/internal/test/oldrig"
)

// TestDotsLedToWhatTheLastRouteCloses: the routes name all that is served, a last one closes the rest, and the origin read a path of that.
func TestDotsLedToWhatTheLastRouteCloses(t *testing.T) {
	e, app := startBefore(t, edgetest.Options{Rule: always()}, storable)
	served := func(l *proxy.Live) { l.Routes[0].PathPrefixes = []string{"/open", "/public"} }
	mustSwap(t, e, func(l *proxy.Live) {
		served(l)
		rest := l.Routes[0]
		rest.Name, rest.PathPrefixes, rest.Origin = "rest", []string{"/"}, nil
		rest.Answer = &proxy.OwnAnswer{Status: 404}
		l.Routes = append(l.Routes, rest)
	})
	f := func(path string, status int, detail, body string) {
		t.Helper()
		ask(t, e, asGet(path)).want(t, status, detail, body)
	}
	if a := ask(t, e, asGet("/admin")); a.status != 404 {
		t.Errorf("/admin: got %d, want 404", a.status)
	}
	f("/admin/../open", 403, "detail=ambiguous-path", "Forbidden\n")
	f("//open", 403, "detail=ambiguous-path", "Forbidden\n") // some origins take open for a host
	if app.Requests() != 0 {
		t.Errorf("the origin got %d requests, want none", app.Requests())
	}
	f("/open//x", 200, "fwd=bypass; detail=ambiguous-path", "hello")
	mustSwap(t, e, func(l *proxy.Live) { served(l); l.Routes = l.Routes[:1] }) // what has no route is not closed
	f("/admin", 404, "detail=no-route", "Not Found\n")
	f("/admin/../open", 200, "fwd=bypass; detail=ambiguous-path", "hello")
	f("//open", 200, "fwd=bypass; detail=ambiguous-path", "hello")
}
