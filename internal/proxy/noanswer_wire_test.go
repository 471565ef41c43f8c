package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"edgeproxy/internal/test/testkit"
)

// respond: {status: 444} was answered with 444. Who knows nginx wants the connection to end without a byte.
func TestStatus444WasAnswered(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	e := start(t, fmt.Sprintf(`
access_log: {path: %q}
routes:
- {name: silent, match: {path_prefix: /444}, respond: {status: 444}}
- {name: rest, origin: app}
`, log), hitOrigin(t))
	f := func(request string) {
		t.Helper()
		c, err := net.Dial("tcp", e.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if got, err := io.ReadAll(c); len(got) > 0 || errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("%.30q: got %q and %v, want the end of the connection without a byte", request, got, err)
		}
	}
	const host = " HTTP/1.1\r\nHost: edge.test\r\n"
	requests := []string{
		"GET /444" + host + "\r\n",
		"HEAD /444" + host + "\r\n",
		"GET /444 HTTP/1.0\r\nHost: edge.test\r\n\r\n",
		"POST /444" + host + "Content-Length: 5\r\n\r\nhello",
		"POST /444" + host + "Content-Length: 50\r\n\r\nhello", // the rest is not waited for
		"POST /444" + host + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
		"GET /444" + host + "\r\nGET /a" + host + "\r\n", // the second one is not answered either
	}
	for _, request := range requests {
		f(request)
	}

	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	address := startHTTP2(t, e)
	defer h2.CloseIdleConnections()
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "edge.test"
		return h2.RoundTrip(r)
	}
	res, err := get("/444")
	if stream, ok := errors.AsType[http2.StreamError](err); err == nil || !ok && !strings.Contains(err.Error(), "stream error") || ok && stream.Code != http2.ErrCodeCancel {
		t.Errorf("HTTP/2: got %v, %v, want the stream reset", res, err)
	}
	if res, err = get("/a"); err != nil { // other streams go on
		t.Errorf("HTTP/2, another request: got %v", err)
	} else {
		_ = res.Body.Close()
	}

	testkit.Eventually(t, "no request is in flight", func() bool { return e.Proxy.InFlight() == 0 })
	want := float64(len(requests) + 1)
	if got := e.Metric(t, "edgeproxy_requests_total", "route=silent", "result=pass", "status=4xx"); got != want {
		t.Errorf("%v were counted, want %v", got, want)
	}
	e.Stop()
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(lines), `"status":444,`); got != len(requests)+1 {
		t.Errorf("got %d lines with 444, want %d:\n%s", got, len(requests)+1, lines)
	}
}
