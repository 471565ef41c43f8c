package proxy_test

import (
	"testing"
)

// TestDotsLedToWhatTheLastRouteCloses: the routes name all that is served, a last one closes the rest, and the origin read a path of that.
func TestDotsLedToWhatTheLastRouteCloses(t *testing.T) {
	const served = always + `
routes:
- {name: served, match: {path_prefix: [/open, /public]}, origin: app}
`
	e, app := startBefore(t, served+"- {name: rest, respond: {status: 404}}\n", storable)
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
	reload(t, e, served) // what has no route is not closed
	f("/admin", 404, "detail=no-route", "Not Found\n")
	f("/admin/../open", 200, "fwd=bypass; detail=ambiguous-path", "hello")
	f("//open", 200, "fwd=bypass; detail=ambiguous-path", "hello")
}
