package proxy_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// ignoresBodies is an origin that reads no body: what stands there is the next request to it. It answers each request with its
// target, for 600 s; what it takes for a request behind the first one of a connection only when more has come.
func ignoresBodies(c *edgetest.Conn) {
	r := bufio.NewReader(c.Rest())
	for first := true; ; first = false {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if !first {
			if _, err := r.Peek(1); err != nil {
				return
			}
		}
		target := req.RequestURI
		if !c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: %d\r\n\r\n%s", len(target), target)) {
			return
		}
	}
}

// A client sent a GET whose body was a request, and an origin that ignores such bodies answered that as well: the answer was
// given to the next client, for another URL, and stored for it.
func TestABodyThatTheOriginIgnoresIsStoredForNobody(t *testing.T) {
	const body = "GET /poison HTTP/1.1\r\nHost: edge.test\r\n\r\n"
	f := func(method, yaml string) {
		t.Helper()
		e, _ := startBefore(t, always+yaml, ignoresBodies)
		attacker, victim := dial(t, e.Address), dial(t, e.Address)
		request := fmt.Sprintf("%s /attack HTTP/1.1\r\nHost: edge.test\r\nContent-Length: %d\r\n\r\n%s", method, len(body), body)
		if a := attacker.ask(request); a.err != nil || a.body != "/attack" {
			t.Fatalf("%s: got %q, %v", method, a.body, a.err)
		}
		victim.ask(asGet("/page")).want(t, 200, "fwd=uri-miss; stored", "/page")
		if a := victim.ask(asGet("/page")); !strings.Contains(a.cache, "; hit;") || a.body != "/page" {
			t.Errorf("%s: got %q, %q, want a hit of the page", method, a.cache, a.body)
		}
	}
	for _, method := range []string{"GET", "DELETE", "OPTIONS"} {
		f(method, "")
	}
	f("POST", `origins: {app: {servers: ["http://{origin}"], reuse_after_post: false}}`)
}
