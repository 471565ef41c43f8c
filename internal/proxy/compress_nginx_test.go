package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestCompressionIsThatOfNginx: gzip with gzip_vary, before the same origin. What differs is named.
func TestCompressionIsThatOfNginx(t *testing.T) {
	program, address, dir := testkit.Nginx(t), testkit.FreeAddress(t), t.TempDir()
	body := page(3000)
	app := edgetest.StartOrigin(t, nil, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			head := "HTTP/1.1 " + r.Header.Get("X-Status") + " X\r\nContent-Type: " + r.Header.Get("X-Type") + "\r\nLast-Modified: Mon, 02 Jan 2023 15:04:05 GMT\r\nAccept-Ranges: bytes\r\n"
			if tag := r.Header.Get("X-Tag"); tag != "" {
				head += "ETag: " + tag + "\r\n"
			}
			if coding := r.Header.Get("X-Coding"); coding != "" {
				head += "Content-Encoding: " + coding + "\r\n"
			}
			c.Say(head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
		}
	})
	testkit.ServeByNginx(t, program, dir, fmt.Sprintf(`
	access_log off;
	gzip on;
	gzip_vary on;
	gzip_min_length 100;
	gzip_types text/css application/json;
	server {
		listen %[2]s;
		location / { proxy_pass http://%[3]s; proxy_http_version 1.1; }
	}
`, dir, address, app.Address), address)
	e := start(t, always+gzips(), edgetest.Options{Origin: app.Address})
	f := func(name, accepts, status, contentType, tag, coding string) {
		t.Helper()
		request := taking(accepts, "GET", "/"+strings.ReplaceAll(name, " ", "-"), "HTTP/1.1", "X-Status: "+status+"\r\nX-Type: "+contentType+"\r\nX-Tag: "+tag+"\r\nX-Coding: "+coding+"\r\n")
		ours, theirs := dial(t, e.Address).ask(request), dial(t, address).ask(request)
		for _, field := range []string{"Content-Encoding", "Etag", "Vary", "Accept-Ranges", "Last-Modified", "Content-Type"} {
			if a, b := ours.header.Get(field), theirs.header.Get(field); a != b {
				t.Errorf("%s: got %s: %q, nginx says %q", name, field, a, b)
			}
		}
		a, err1 := testkit.Decoded(ours.header.Get("Content-Encoding"), ours.body)
		b, err2 := testkit.Decoded(theirs.header.Get("Content-Encoding"), theirs.body)
		if coding == "" && (a != b || a != body || err1 != nil || err2 != nil) {
			t.Errorf("%s: got %d bytes, %v, of nginx %d, %v", name, len(a), err1, len(b), err2)
		}
	}
	f("a strong tag", "gzip", "200", "text/html", `"a"`, "")
	f("a weak tag", "gzip", "200", "text/css", `W/"a"`, "")
	f("no tag", "gzip", "200", "application/json", "", "")
	f("a broken tag", "gzip", "200", "text/html", "a", "")
	f("not found", "gzip", "404", "text/html", `"a"`, "")
	f("another type", "gzip", "200", "image/png", `"a"`, "")
	f("a coding of the origin", "gzip", "200", "text/html", `"a"`, "br")
	f("refused", "br, gzip;q=0", "200", "text/html", `"a"`, "")
	f("no coding", "", "200", "text/html", `"a"`, "")
}
