package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// pages has a page sent for each error, also of the origin.
func pages(t *testing.T) (yaml string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "sorry.html")
	if err := os.WriteFile(page, []byte("<p>Sorry"), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("error_pages: {4xx: %[1]s, 5xx: %[1]s}\nintercept_errors: true\n", page)
}

// fails answers each request with an error: of some length for /N, in chunks for /chunks. It counts its connections.
func fails(conns *atomic.Int64) func(c *edgetest.Conn) {
	return func(c *edgetest.Conn) {
		conns.Add(1)
		for r := c.Next(); r != nil; r = c.Next() {
			length := 0
			if n, _ := fmt.Sscanf(r.RequestURI, "/%d", &length); n == 1 {
				c.Say(fmt.Sprintf("HTTP/1.1 503 X\r\nX-Inside: 1\r\nContent-Length: %d\r\n\r\n%s", length, strings.Repeat("x", length)))
				continue
			}
			c.Say("HTTP/1.1 404 X\r\nX-Inside: 1\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n3\r\nabc\r\n0\r\nX-End: 1\r\n\r\n")
		}
	}
}

// TestAPageLeavesConnectionsAsTheyAre: to the client, and to an origin whose answer is here.
func TestAPageLeavesConnectionsAsTheyAre(t *testing.T) {
	var conns atomic.Int64
	e, _ := startBefore(t, always+pages(t), fails(&conns))
	s := dial(t, e.Address)
	s.ask(asGet("/100")).want(t, 503, "fwd=uri-miss; detail=status", "<p>Sorry")
	s.ask(asGet("/0")).want(t, 503, "fwd=uri-miss; detail=status", "<p>Sorry")
	s.ask("POST /100 HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 1\r\n\r\nx").want(t, 503, "fwd=method; detail=method", "<p>Sorry")
	s.ask("GET /200 HTTP/1.1\r\nHost: edge.test\r\nAuthorization: Basic x\r\n\r\n").want(t, 503, "fwd=uri-miss; detail=authorization", "<p>Sorry")
	if n := conns.Load(); n != 1 {
		t.Errorf("got %d connections to the origin, want 1", n)
	}
	s.ask("GET /chunks HTTP/1.1\r\nHost: edge.test\r\nTE: trailers\r\nConnection: TE\r\n\r\n").want(t, 404, "fwd=uri-miss; detail=no-freshness", "<p>Sorry")
	s.ask(asGet("/5000000")).want(t, 503, "fwd=uri-miss; detail=status", "<p>Sorry")
	s.ask("GET /5000000 HTTP/1.1\r\nHost: edge.test\r\nAuthorization: Basic x\r\n\r\n").want(t, 503, "fwd=uri-miss; detail=authorization", "<p>Sorry")
	s.ask(asGet("/1")).want(t, 503, "fwd=uri-miss; detail=status", "<p>Sorry")
	eventually(t, "nothing is held", func() bool { return e.Metric(t, "edgeproxy_inflight_bytes") == 0 && e.Proxy.InFlight() == 0 })
}

// TestAStoredErrorThatLiesOnTheDiskIsNotReadForItsPage: the page is in memory.
func TestAStoredErrorThatLiesOnTheDiskIsNotReadForItsPage(t *testing.T) {
	body := strings.Repeat("hello", 40_000)
	const onDisk = always + `cache: {memory: {max_object_bytes: 64KiB}, disk: {path: "{dir}/disk", max_bytes: 64MiB, min_free: 0%}}
`
	e, app := startBefore(t, onDisk, func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 404 X\r\nCache-Control: max-age=3600\r\nContent-Length: 200000\r\n\r\n" + body)
		}
	})
	ask(t, e, asGet("/a")).want(t, 404, "fwd=uri-miss; stored", body)
	reload(t, e, onDisk+pages(t))
	ask(t, e, asGet("/a")).wantHit(t, 404, "<p>Sorry")
	ask(t, e, "GET /a HTTP/1.1\r\nHost: edge.test\r\nRange: bytes=0-1\r\n\r\n").wantHit(t, 404, "<p>Sorry")
	reload(t, e, onDisk)
	ask(t, e, asGet("/a")).wantHit(t, 404, body)
	if app.Requests() != 1 {
		t.Errorf("got %d origin requests, want 1", app.Requests())
	}
}

// TestRoutesByHTTP2: what a route has of its own holds by HTTP/2 as well, several streams at once.
func TestRoutesByHTTP2(t *testing.T) {
	var conns atomic.Int64
	e, _ := startBefore(t, always+pages(t)+"routes:\n"+annsRoute(t, "/"), fails(&conns))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &protocols}
	defer tr.CloseIdleConnections()
	address := startHTTP2(t, e)
	f := func(method, path, name string, status int, body string) {
		r, err := http.NewRequest(method, "http://"+address+path, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		if name != "" {
			r.SetBasicAuth(name, "x")
		}
		res, err := tr.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != status || string(got) != body || res.ContentLength != int64(len("<p>Sorry")) || res.Header.Get("X-Inside") != "" || res.ProtoMajor != 2 {
			t.Errorf("%s %s as %q: got %s %d %q %v, %v", method, path, name, res.Proto, res.StatusCode, got, res.Header, err)
		}
	}
	for range 3 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f("GET", "/10", "ann", 503, "<p>Sorry")
		}()
		f("GET", "/chunks", "ann", 404, "<p>Sorry")
		f("HEAD", "/10", "ann", 503, "")
		f("GET", "/10", "bob", 401, "<p>Sorry")
		f("GET", "/10", "", 401, "<p>Sorry")
		<-done
	}
}
