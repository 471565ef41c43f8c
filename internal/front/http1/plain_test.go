package http1

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
)

// The heads of FuzzPlainRequestsAreNoOthers and of the test of what is plain.
var (
	plainHeads = []string{
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"HEAD /a?b=http://c/d HTTP/1.1\r\nhOST:\th \r\nX: a\tb \r\nX:\r\nConnection: keep-alive\r\n\r\n",
		"GET /a#b\"<>\xff HTTP/1.1\r\nHost: a_b.c-d:8080\r\nUser-Agent: \xc3\xa4 and so on\r\n\r\n",
		"GET /http://e/ HTTP/1.1\r\nAccept: */*\r\nHost: 1.2.3.4\r\nProxy-Connection: close\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\n\r\n", "M-SEARCH! /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\ncontent-length: 0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 003\r\n\r\n", "PUT / HTTP/1.1\r\nCONTENT-LENGTH: 9223372036854775807\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD / HTTP/1.1\r\nTransfer-Encoding:CHUNKED\t\r\nHost: h\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTrailer: X, y-Z\r\nTransfer-Encoding: chunked\r\n\r\n",
	}
	otherHeads = []string{
		"POST / HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\n",
		"post / HTTP/1.1\r\nHost: h\r\n\r\n", "POST http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", "P(ST / HTTP/1.1\r\nHost: h\r\n\r\n",
		" / HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "get / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.2\r\nHost: h\r\n\r\n", "GET /\r\nHost: h\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\nHost: h\r\n\r\n", "GET /\n HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\r HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n", "GET //a HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", "GET  HTTP/1.1\r\nHost: h\r\n\r\n",
		"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h:8:8\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h:\r\n\r\n", "GET / HTTP/1.1\r\nHost: :8\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", "GET / HTTP/1.1\r\n X: a\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nX : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: 12345678\x00\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: 1234567\x7f\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n", "GET / HTTP/1.1\r\nHost: h\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTrailer: X\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X, Host\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X,\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nUPGRADE: h2c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nTrailer: X\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, x\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nConnection:\r\n\r\n",
	}
)

// TestPlainRequestsAreKnown: what is plain is read, and nothing else is.
func TestPlainRequestsAreKnown(t *testing.T) {
	read := func(b string) (int, look, *turn) {
		turn := newTurn(serverOf(nil, 0))
		n, found := turn.readPlain([]byte(b))
		return n, found, turn
	}
	for _, head := range plainHeads {
		if n, found, _ := read(head + "behind\r\n\r\n"); found != isPlain || n != len(head) {
			t.Errorf("%q: found %v of %d bytes, want a plain one of %d", head, found, n, len(head))
		}
		for i := range head {
			if _, found, _ := read(head[:i]); found != isShort {
				t.Errorf("%q: found %v, want that it is short", head[:i], found)
			}
		}
	}
	for _, head := range otherHeads {
		if _, found, _ := read(head); found != isOther {
			t.Errorf("%q: found %v, want another one", head, found)
		}
	}
	_, _, turn := read(plainHeads[1])
	r := &turn.request
	if string(r.Method) != "HEAD" || string(r.Target) != "/a?b=http://c/d" || string(r.Host) != "h" || len(r.Lines) != 4 {
		t.Errorf("got %q %q of %q with %q", r.Method, r.Target, r.Host, r.Lines)
	}
}

// FuzzPlainRequestsAreNoOthers: what is read here as a plain request is the same one to fasthttp, which
// reads the others: its head ends at the same byte, its content is framed alike, and the connection goes on.
func FuzzPlainRequestsAreNoOthers(f *testing.F) {
	for _, head := range append(plainHeads, otherHeads...) {
		f.Add([]byte(head))
		f.Add([]byte(head + "GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		turn := newTurn(serverOf(nil, 0))
		n, found := turn.readPlain(b)
		if found != isPlain {
			return
		}
		var req fasthttp.Request
		in := bufio.NewReaderSize(bytes.NewReader(b), max(len(b), 16))
		if err := req.Header.Read(in); err != nil {
			t.Fatalf("%q: fasthttp says %v", b, err)
		}
		h, r := &req.Header, &turn.request
		if in.Buffered() != len(b)-n {
			t.Fatalf("%q: ends after %d bytes, and to fasthttp with %d left", b, n, in.Buffered())
		}
		if !bytes.Equal(h.Method(), r.Method) || !bytes.Equal(h.RequestURI(), r.Target) || !bytes.Equal(h.Host(), r.Host) {
			t.Errorf("%q: got %q %q of %q", b, r.Method, r.Target, r.Host)
		}
		if !h.IsHTTP11() || h.ConnectionClose() || h.ConnectionUpgrade() || req.MayContinue() && !turn.upload.expects {
			t.Errorf("%q: is more than plain to fasthttp", b)
		}
		if length := int64(h.ContentLength()); turn.upload.hasContent() && length != turn.upload.Length() || !turn.upload.hasContent() && (length > 0 || length == -1) {
			t.Errorf("%q: has content %t of %d bytes, and to fasthttp of %d", b, turn.upload.hasContent(), turn.upload.Length(), length)
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(h.RawHeaders(), []byte("\r\n\r\n")), []byte("\r\n")) {
			name, value, _ := strings.Cut(string(line), ":")
			if got := r.Lines[i]; string(got.Name) != name || string(got.Value) != strings.Trim(value, " \t") || !field.ValidValue(got.Value) {
				t.Errorf("%q: line %d is %q", b, i, got)
			}
		}
	})
}
