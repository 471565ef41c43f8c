package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

const asAnn = "Authorization: Basic YW5uOng=\r\n"

// TestUsersAreAskedOnEachRequest: a connection on which a user was right is not let in, each request is.
func TestUsersAreAskedOnEachRequest(t *testing.T) {
	e, app := startBefore(t, always+"routes:\n"+annsRoute(t, "/"), storable)
	s := dial(t, e.Address)
	get := func(fields string) string { return "GET /a HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n" }
	s.ask(get("")).want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	s.ask(get(asAnn)).want(t, 200, "fwd=uri-miss; stored", "hello")
	s.ask(get("")).want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	s.ask(get("Connection: Authorization\r\n"+asAnn)).wantHit(t, 200, "hello")
	s.ask(get("Range: bytes=0-1\r\n")).want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	s.ask(get("If-None-Match: *\r\n")).want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	s.ask("POST /a HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 3\r\n\r\nabc").want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	up := strings.Replace(asks101, "/ws", "/a", 1)
	dial(t, e.Address).ask(up).want(t, 401, "detail=unauthenticated", "Unauthorized\n")
	if app.Requests() != 1 {
		t.Errorf("got %d origin requests, want 1", app.Requests())
	}
}

// TestWhatARouteSetsAsAuthorizationIsSent in place of what its users have shown.
func TestWhatARouteSetsAsAuthorizationIsSent(t *testing.T) {
	sent := make(chan http.Header, 1)
	routes := "routes:\n" + annsRoute(t, "/a") + "- {name: open, origin: app}\n"
	e, _ := startBefore(t, routes, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			sent <- r.Header
			c.Say("HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	asked := func(path string) []string {
		t.Helper()
		ask(t, e, "GET "+path+" HTTP/1.1\r\nHost: edge.test\r\n"+asAnn+"\r\n")
		return (<-sent)["Authorization"]
	}
	if got := asked("/a"); got != nil {
		t.Errorf("got %q, want none", got)
	}
	reload(t, e, routes+"headers: {request: {set: {Authorization: Bearer ours}}}")
	if got := asked("/a"); len(got) != 1 || got[0] != "Bearer ours" {
		t.Errorf("got %q, want what the route sets", got)
	}
	reload(t, e, routes+"headers: {request: {remove: [X-*]}}")
	if got := asked("/a"); got != nil {
		t.Errorf("got %q, want none", got)
	}
	if got := asked("/open"); len(got) != 1 {
		t.Errorf("got %q, want what the client has sent: the rules of another route have changed", got)
	}
}

// TestUsersTogether: the first requests of a browser come at once, and each gets its answer.
func TestUsersTogether(t *testing.T) {
	e, app := startBefore(t, always+"routes:\n"+annsRoute(t, "/"), storable)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if a := ask(t, e, "GET /a HTTP/1.1\r\nHost: edge.test\r\n"+asAnn+"\r\n"); a.status != 200 || a.body != "hello" {
				t.Errorf("got %+v", a)
			}
		})
	}
	all.Wait()
	if app.Requests() != 1 {
		t.Errorf("got %d origin requests, want 1", app.Requests())
	}
}
