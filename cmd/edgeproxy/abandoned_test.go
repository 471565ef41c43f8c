package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowApp answers /quick, and /slow only when its client has left or the test ends.
func slowApp(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/slow") {
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
	}))
	t.Cleanup(app.Close)
	t.Cleanup(func() { close(over) })
	return app.URL
}

// drainFrames reads what comes, so that nothing waits for the client to take it.
func drainFrames(c *tls.Conn) { go func() { _, _ = io.Copy(io.Discard, c) }() }

// TestRapidResetsHeldEveryConnection: thousands of streams that are reset took all
// connections to the origin, until it answered.
func TestRapidResetsHeldEveryConnection(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, slowApp(t), "limits: {origin_share: 1}\nroutes: [{name: all, origin: app, admission: {policy: never}}]")
	for n := range 12 {
		c := s.raw(t)
		drainFrames(c)
		for i := range uint32(120) {
			stream := 2*i + 1
			b := frame(1, 4|1, stream, fields(":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", fmt.Sprintf("/slow/%d/%d", n, i)))
			if _, err := c.Write(append(b, frame(3, 0, stream, []byte{0, 0, 0, 8})...)); err != nil {
				break // it has lost its connection
			}
		}
	}
	res, _ := s.h2(t)
	if res != 200 {
		t.Errorf("another client got %d meanwhile, want 200", res)
	}
	text := s.metricsAtRest()
	if n := metric(t, text, `edgeproxy_origin_connections{origin="app",state="active"}`); n != 0 {
		t.Errorf("%d connections to the origin are in use, want none", n)
	}
	if n := metric(t, text, "edgeproxy_panics_total"); n != 0 {
		t.Errorf("%d panics", n)
	}
}

// h2 asks for /quick by HTTP/2.
func (s *server) h2(t *testing.T) (status int, body string) {
	t.Helper()
	res, err := s.speaks(t, true).Get("https://www.example.com/quick")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

// TestUnfinishedRequestsOfHTTP2HeldEveryPlace: each stream of one client is a request, and
// connections_per_address sees none of them.
func TestUnfinishedRequestsOfHTTP2HeldEveryPlace(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, slowApp(t), "limits: {requests_in_flight: 64}")
	for range 4 {
		c := s.raw(t)
		drainFrames(c)
		for i := range uint32(30) {
			b := frame(1, 4, 2*i+1, fields(":method", "POST", ":scheme", "https", ":authority", "www.example.com", ":path", "/slow"))
			if _, err := c.Write(append(b, frame(0, 0, 2*i+1, []byte("abc"))...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const refused = `edgeproxy_limit_rejections_total{limit="requests_in_flight_share"}`
	eventually(t, "the streams beyond the share are refused", func() bool {
		_, text := get(t, "http://"+s.admin+"/metrics")
		return metric(t, text, refused) == 120-49 // 48, and one more, leave less than a quarter
	})
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 7)}, Timeout: patience}).Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	answer := make([]byte, 12)
	if _, err := io.WriteString(c, "GET /quick HTTP/1.1\r\nHost: www.example.com\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		t.Errorf("another client got %q, %v, want 200", answer, err)
	}
}

// TestAccessLogToldNothingOfClientsThatLeftTheirAnswer: what they had of a body was logged
// as if it was all that there is, with the reason that the response was not stored for.
func TestAccessLogToldNothingOfClientsThatLeftTheirAnswer(t *testing.T) {
	t.Parallel()
	const size = 16 << 20 // more than the system takes
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/sized" {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		_, _ = w.Write(make([]byte, size))
	}))
	t.Cleanup(app.Close)
	path := filepath.Join(t.TempDir(), "access.log")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\naccess_log: {path: %q}\n", app.URL, path)))
	get(t, "http://"+s.address+"/whole")
	for _, target := range []string{"/sized", "/chunks"} {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		_ = c.Close() // with bytes unread: a reset
	}
	s.metricsAtRest()
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want := `"reason":"client-gone"`
		if strings.Contains(line, "/whole") {
			want = `"reason":"no-store"`
		}
		if !strings.Contains(line, want) || !strings.Contains(line, `"status":200`) || !strings.Contains(line, `"result":"pass"`) {
			t.Errorf("got %s, want status 200, result pass, %s", line, want)
		}
	}
	if n := strings.Count(string(text), "\n"); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}
