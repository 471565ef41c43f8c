package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

func TestRequestsBeyondTheLimitsAreRefused(t *testing.T) {
	e, app := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	f := func(name, request string, want int) {
		t.Helper()
		a := ask(t, e, request)
		if a.status != want || want != 200 && a.cache != edgetest.Node+"; detail=bad-request" {
			t.Errorf("%s: got %d %q %v, want %d", name, a.status, a.cache, a.err, want)
		}
	}
	many := func(n int) string { // with Host
		return "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X-Y: z\r\n", n-1) + "\r\n"
	}

	f("target of 8 KiB", "GET /"+strings.Repeat("a", 8<<10-1)+" HTTP/1.1\r\nHost: h\r\n\r\n", 200)
	f("longer target", "GET /"+strings.Repeat("a", 8<<10)+" HTTP/1.1\r\nHost: h\r\n\r\n", 414)
	f("100 fields", many(100), 200)
	f("101 fields", many(101), 431)
	f("header beyond 16 KiB", "GET / HTTP/1.1\r\nHost: h\r\nX: "+strings.Repeat("a", 16<<10)+"\r\n\r\n", 431)
	f("announced body beyond 1 GiB", "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1073741825\r\n\r\n", 413)
	if app.Requests() != 2 {
		t.Errorf("got %d origin requests, want 2", app.Requests())
	}
}

// TestUploadLimit: a body of unknown length is cut off at the limit, and the origin
// does not take what it got for a whole request.
func TestUploadLimit(t *testing.T) {
	e, app := startBefore(t, "limits: {body_bytes: 1MiB}", func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	s := dial(t, e.Address)
	piece := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	go func() {
		_, _ = io.WriteString(s, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 17 {
			if _, err := io.WriteString(s, piece); err != nil {
				return
			}
		}
	}()
	a := s.read()
	if a.status != 413 || !strings.HasSuffix(a.cache, "detail=too-large") {
		t.Errorf("got %d %q %v, want 413", a.status, a.cache, a.err)
	}
	if app.Requests() != 0 {
		t.Errorf("the origin took %d requests for whole, want 0", app.Requests())
	}
}

// TestOriginMayAnswerBeforeTheUpload: its refusal reaches the client although the
// body is still being sent.
func TestOriginMayAnswerBeforeTheUpload(t *testing.T) {
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		head := make([]byte, 16)
		if _, err := io.ReadFull(c.Conn, head); err != nil {
			return
		}
		c.Say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		c.UntilClosed()
	})
	s := dial(t, e.Address)
	if _, err := io.WriteString(s, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 100000)); err != nil {
		t.Fatal(err)
	}
	s.read().want(t, 401, "fwd=method; detail=method", "no")
}
