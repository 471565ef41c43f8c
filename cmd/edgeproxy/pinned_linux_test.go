package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// slowHit asks for path on a connection of its own and takes the head of the answer, which has
// to be a hit.
func (s *server) slowHit(path string) io.ReadCloser {
	s.t.Helper()
	c := tls.Client(s.dialSmall(4<<10), &tls.Config{InsecureSkipVerify: true})
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, s.address); err != nil {
		s.t.Fatal(err)
	}
	r := bufio.NewReaderSize(c, 4<<10)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if status := res.Header.Get("Cache-Status"); !strings.Contains(status, "; hit") {
		s.t.Fatalf("%s: got %q, want a hit", path, status)
	}
	return struct {
		io.Reader
		io.Closer
	}{res.Body, c}
}

// dialSmall returns a connection with so many bytes of buffer for what it receives.
func (s *server) dialSmall(buffer int) *net.TCPConn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	tcp := c.(*net.TCPConn)
	_ = tcp.SetReadBuffer(buffer)
	return tcp
}

// TestSlowReadersOfHitsPinNoMoreThanTheirShare: each client that took a hit slowly kept a body
// that the cache had evicted, and the process grew by all of them.
func TestSlowReadersOfHitsPinNoMoreThanTheirShare(t *testing.T) {
	t.Parallel()
	const size, clients, pinned = 8 << 20, 30, 16 << 20
	body := make([]byte, size)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(body)
	}))
	t.Cleanup(origin.Close)
	f := func(name string, ask func(s *server, path string) io.ReadCloser) {
		t.Run(name, func(t *testing.T) {
			s := serveTLS(t, origin.URL, "cache: {memory: {max_bytes: 64MiB}}\nlimits: {inflight_bytes: 16MiB}")
			s.t = t
			const resident = "process_resident_memory_bytes"
			atStart := s.gauge(resident)
			fetch := s.speaks(t, false)
			taking := make([]io.ReadCloser, clients)
			for i := range clients {
				path := fmt.Sprintf("/%d", i)
				res, err := fetch.Get("https://" + s.address + path)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
					t.Fatalf("%s: got %d bytes and %v", path, n, err)
				}
				_ = res.Body.Close()
				taking[i] = ask(s, path)
			}
			eventually(t, "no more is pinned than may be", func() bool { return s.gauge("edgeproxy_cache_pinned_bytes") <= pinned })
			if n := s.gauge(`edgeproxy_limit_rejections_total{limit="pinned_bytes"}`); n < clients/2 {
				t.Errorf("let go: got %v, want most of %d", n, clients)
			}
			if got, most := s.gauge(resident)-atStart, 1.2*64+16+16+48; got > most*(1<<20) {
				t.Errorf("resident: %.0f MiB more than at the start, want at most %.0f", got/(1<<20), most)
			}
			if n, err := io.Copy(io.Discard, taking[0]); err == nil || n >= size {
				t.Errorf("the first of them got %d bytes and %v, want a broken answer", n, err)
			}
			for _, r := range taking {
				_ = r.Close()
			}
			eventually(t, "nothing is pinned", func() bool { return s.gauge("edgeproxy_cache_pinned_bytes") == 0 })
		})
	}
	f("HTTP/1.1", func(s *server, path string) io.ReadCloser { return s.slowHit(path) })
	f("HTTP/2", func(s *server, path string) io.ReadCloser {
		res, err := s.speaks(t, true).Get("https://" + s.address + path)
		if err != nil {
			t.Fatal(err)
		}
		if status := res.Header.Get("Cache-Status"); !strings.Contains(status, "; hit") {
			t.Errorf("%s: got %q, want a hit", path, status)
		}
		return res.Body
	})
}
