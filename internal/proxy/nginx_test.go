package proxy_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// nginxHTTP is its http section, for the folder and the address.
const nginxHTTP = `
	access_log %[1]s/access.log;
	types { text/plain txt; }
	gzip on;
	gzip_vary on;
	gzip_min_length 100;
	gzip_types text/plain;
	gzip_proxied any;
	server {
		listen %[2]s;
		root %[1]s/root;
		location / { add_header Cache-Control max-age=600; add_header X-Connection $connection:$connection_requests; }
		location /plain/ { gzip off; add_header Cache-Control max-age=600; }
		location /off/ { gzip off; add_header Cache-Control no-store; }
	}
`

// startNginx runs nginx with a few files as origin and returns its address. Without
// nginx the test is skipped.
func startNginx(t *testing.T) string {
	t.Helper()
	program, address, dir := testkit.Nginx(t), testkit.FreeAddress(t), t.TempDir()
	for _, folder := range []string{"root", "root/plain", "root/off"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, "a.txt"), []byte(nginxText()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testkit.ServeByNginx(t, program, dir, fmt.Sprintf(nginxHTTP, dir, address), address)
	return address
}

func nginxText() string { return strings.Repeat("hello nginx\n", 1000) }

func TestNginxAsOrigin(t *testing.T) {
	address := startNginx(t)
	edge := func(t *testing.T) *edgetest.Edge {
		t.Helper()
		return start(t, held, edgetest.Options{Origin: address})
	}
	get := func(target, fields string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n"
	}

	t.Run("keep-alive", func(t *testing.T) {
		e := edge(t)
		connections := map[string]bool{}
		for i := range 5 {
			a := ask(t, e, get(fmt.Sprintf("/a.txt?%d", i), ""))
			a.want(t, 200, "fwd=uri-miss; detail=first-sighting", nginxText())
			number, _, _ := strings.Cut(a.header.Get("X-Connection"), ":")
			connections[number] = true
		}
		if len(connections) != 1 {
			t.Errorf("5 requests in turn took %d connections to the origin, want 1", len(connections))
		}
	})
	t.Run("gzip and plain are variants", func(t *testing.T) {
		e := edge(t)
		zipped, plain := get("/a.txt", "Accept-Encoding: gzip\r\n"), get("/a.txt", "")
		ask(t, e, plain).want(t, 200, "fwd=uri-miss; detail=first-sighting", nginxText())
		if a := ask(t, e, zipped); unzip(t, a) != nginxText() || a.cache != "edgeproxy; fwd=uri-miss; stored" {
			t.Errorf("gzip: got %q %q", a.cache, a.header)
		}
		ask(t, e, plain).want(t, 200, "fwd=vary-miss; stored", nginxText())
		if a := ask(t, e, zipped); unzip(t, a) != nginxText() || !strings.Contains(a.cache, "; hit; ") {
			t.Errorf("gzip again: got %q, want a hit", a.cache)
		}
		if a := ask(t, e, plain); a.body != nginxText() || !strings.Contains(a.cache, "; hit; ") {
			t.Errorf("plain again: got %q, want a hit", a.cache)
		}
	})
	t.Run("304 goes through", func(t *testing.T) {
		e := edge(t)
		a := ask(t, e, get("/off/a.txt", ""))
		etag := a.header.Get("Etag")
		a.want(t, 200, "fwd=uri-miss; detail=no-store", nginxText())
		a = ask(t, e, get("/off/a.txt", "If-None-Match: "+etag+"\r\n"))
		a.want(t, 304, "fwd=uri-miss; detail=not-modified", "")
		if got := a.header.Get("Etag"); got != etag || etag == "" {
			t.Errorf("ETag: got %q, want %q", got, etag)
		}
	})
	t.Run("range goes through", func(t *testing.T) {
		e := edge(t)
		a := ask(t, e, get("/plain/a.txt", "Range: bytes=6-10\r\n"))
		a.want(t, 206, "fwd=uri-miss; detail=partial", "nginx")
		if got, want := a.header.Get("Content-Range"), fmt.Sprintf("bytes 6-10/%d", len(nginxText())); got != want {
			t.Errorf("Content-Range: got %q, want %q", got, want)
		}
		ask(t, e, get("/plain/a.txt", "Range: bytes=99999-\r\n")).want(t, 416, "fwd=uri-miss; fwd-status=200; stored", "")
	})
	t.Run("slices", func(t *testing.T) {
		e := start(t, always, edgetest.Options{Origin: address, Adjust: func(c *config.Config) { c.Routes[0].Cache.SliceBytes = 5000 }})
		ask(t, e, get("/plain/a.txt", "Range: bytes=4996-5004\r\n")).want(t, 206, "fwd=uri-miss; stored", nginxText()[4996:5005])
		ask(t, e, get("/plain/a.txt", "")).want(t, 200, "fwd=partial; stored", nginxText())
		a := ask(t, e, get("/plain/a.txt", ""))
		if a.body != nginxText() || !strings.HasPrefix(a.cache, "edgeproxy; hit; ") {
			t.Errorf("the whole again: got %q, %d bytes; want a hit", a.cache, len(a.body))
		}
	})
	t.Run("stored and cut here", func(t *testing.T) {
		e := edge(t)
		ask(t, e, get("/plain/a.txt", ""))
		a := ask(t, e, get("/plain/a.txt", "Range: bytes=6-10\r\n"))
		a.want(t, 206, "fwd=uri-miss; fwd-status=200; stored", "nginx")
		a = ask(t, e, get("/plain/a.txt", "If-None-Match: "+a.header.Get("Etag")+"\r\n"))
		if a.status != 304 || !strings.Contains(a.cache, "; hit; ") {
			t.Errorf("condition on a hit: got %d %q, want 304 and a hit", a.status, a.cache)
		}
		head := dial(t, e.Address)
		if _, err := io.WriteString(head, "HEAD /plain/a.txt HTTP/1.1\r\nHost: edge.test\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(head.r, &http.Request{Method: "HEAD"})
		if err != nil || res.ContentLength != int64(len(nginxText())) || !strings.Contains(res.Header.Get("Cache-Status"), "; hit; ") {
			t.Errorf("HEAD of what is stored: got %+v, %v", res, err)
		}
	})
}

// unzip returns the content of a gzip answer, and what it is instead otherwise.
func unzip(t *testing.T, a answer) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(a.body))
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
