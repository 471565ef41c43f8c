package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// browserFields are those of a GET as a browser sends it; with Host they are
// eight.
const browserFields = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
	"Accept-Language: en-GB,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
	"Referer: http://example.com/\r\n" +
	"Connection: keep-alive\r\n" +
	"Priority: u=0, i\r\n"

const (
	hitETag     = `"5f3c-6a1b2c3d"`
	hitModified = "Thu, 01 Jan 2026 00:00:00 GMT"
)

// hitRequest is a request for path with more fields, lines that end in CRLF.
func hitRequest(method, path, more string) []byte {
	return []byte(method + " " + path + " HTTP/1.1\r\nHost: example.com\r\n" + browserFields + more + "\r\n")
}

// hitOrigin answers /N with N bytes and eight fields, /vary/N with Vary too,
// /search/N with No-Vary-Search, and /shield/N as a cache in front of an origin.
func hitOrigin(tb testing.TB) edgetest.Options {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var size int
		rest := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/vary"), "/search")
		rest = strings.TrimPrefix(rest, "/shield")
		if _, err := fmt.Sscanf(rest, "/%d", &size); err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		for _, f := range [][2]string{
			{"Cache-Control", "public, max-age=3600"},
			{"Content-Type", "text/html; charset=utf-8"},
			{"Content-Language", "en"},
			{"Etag", hitETag},
			{"Last-Modified", hitModified},
			{"X-Content-Type-Options", "nosniff"},
			{"Surrogate-Key", "a product shop-7"},
			{"Content-Length", fmt.Sprint(size)},
		} {
			h.Set(f[0], f[1])
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/search"):
			h.Set("No-Vary-Search", `key-order, params=("utm_source" "fbclid")`)
		case strings.HasPrefix(r.URL.Path, "/shield"):
			h.Set("Cache-Status", "shield; hit; ttl=1100")
		case rest != r.URL.Path:
			h.Set("Vary", "Accept-Encoding, Accept-Language")
		}
		_, _ = w.Write(make([]byte, size))
	}))
	tb.Cleanup(server.Close)
	return edgetest.Options{Origin: server.Listener.Addr().String()}
}

// searchTarget means the same as searchNormal, by which the answer to it is stored once
// that was asked for: what the origin was asked for with utm_source answers that alone.
const (
	searchTarget = "/search/1024?b=2&utm_source=x&a=%2F&fbclid=7"
	searchNormal = "/search/1024?a=%2F&b=2"
)

// hitClient is a keep-alive connection to an edge that asks for one thing again
// and again. Asking allocates nothing.
type hitClient struct {
	conn    net.Conn
	request []byte
	body    int // bytes of each answer's body
	buffer  []byte
}

// newHitClient makes the edge store what request asks for, which its second
// answer has to show, and returns a client for more of the same.
func newHitClient(tb testing.TB, address string, request []byte) *hitClient {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	return newHitClientOn(tb, conn, request)
}

// newHitClientOn is newHitClient with a connection that is there.
func newHitClientOn(tb testing.TB, conn net.Conn, request []byte) *hitClient {
	tb.Helper()
	tb.Cleanup(func() { _ = conn.Close() })
	c := &hitClient{conn: conn, request: request, buffer: make([]byte, 64<<10)}
	c.learn(tb, hitRequest(http.MethodGet, string(bytes.Fields(request)[1]), ""))
	if status := c.learn(tb, request); !strings.Contains(status, edgetest.Node+"; hit") {
		tb.Fatalf("Cache-Status of the second answer: got %q, want a hit", status)
	}
	return c
}

// learn asks once, notes the length of the answer's body, and returns its
// Cache-Status.
func (c *hitClient) learn(tb testing.TB, request []byte) string {
	tb.Helper()
	if _, err := c.conn.Write(request); err != nil {
		tb.Fatal(err)
	}
	method, _, _ := strings.Cut(string(request), " ")
	r, err := http.ReadResponse(bufio.NewReader(c.conn), &http.Request{Method: method})
	if err != nil {
		tb.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	c.body = int(n)
	return r.Header.Get("Cache-Status")
}

// ask asks once and reads the answer to its end.
func (c *hitClient) ask() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	have, end := 0, -1
	for end < 0 {
		n, err := c.conn.Read(c.buffer[have:])
		if err != nil {
			return err
		}
		have += n
		end = bytes.Index(c.buffer[:have], []byte("\r\n\r\n"))
	}
	for left := c.body - (have - end - len("\r\n\r\n")); left > 0; {
		n, err := c.conn.Read(c.buffer)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}
