package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"
)

// stallSize is more than the socket buffers of both sides hold.
const stallSize = 7 << 20

// stallIdle is write_idle_timeout. A busy machine keeps a client from reading for a second or two.
const stallIdle = 6 * time.Second

// serveStalls starts the proxy before an origin whose /hit is stored and whose /stream is
// not, and warms /hit.
func serveStalls(t *testing.T) *server {
	t.Helper()
	body := make([]byte, stallSize)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", map[bool]string{true: "max-age=600", false: "no-store"}[r.URL.Path == "/hit"])
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	t.Cleanup(origin.Close)
	file := writeFile(t, "stall.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
limits: {write_idle_timeout: %v}
`, origin.URL, stallIdle))
	s := serveBinary(t, "-c", file)
	for range 2 {
		get(t, "http://"+s.address+"/hit")
	}
	return s
}

// ask sends a request for path on a connection that takes little at a time.
func (s *server) ask(path string) *net.TCPConn {
	s.t.Helper()
	c := s.dialSmall(64 << 10)
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, s.address); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func TestAStalledReaderIsLetGo(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/hit", "/stream"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			s := serveStalls(t)
			eventually(t, "only the stalled client is left", func() bool { return s.connections() == "0" })
			c := s.ask(path)
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) { // later it may be gone already
				t.Fatal("the stalled client was not answered")
			}
			eventually(t, "the stalled client is let go", func() bool { return s.connections() == "0" })
		})
	}
}

// The whole takes several times write_idle_timeout, and each step is well below it.
func TestAReaderThatMakesProgressGetsAll(t *testing.T) {
	t.Parallel()
	s := serveStalls(t)
	for _, path := range []string{"/hit", "/stream"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			for tries := 1; ; tries++ {
				got, pause, took, err := takeSlowly(s.ask(path))
				switch {
				case err == nil && took < 2*stallIdle:
					t.Errorf("took %v, which shows nothing", took)
				case err != nil && pause >= stallIdle/2 && tries < 3:
					t.Logf("%v after %d bytes: the machine has kept the client from reading for %v; once more", err, got, pause)
					continue
				case err != nil:
					t.Errorf("%v after %d bytes and %v, with at most %v between two reads", err, got, took, pause)
				}
				return
			}
		})
	}
}

// takeSlowly reads an answer of stallSize piece by piece. It returns the longest time between two reads, too.
func takeSlowly(c io.Reader) (got int, pause, took time.Duration, err error) {
	pace := time.NewTicker(stallIdle / 50)
	defer pace.Stop()
	begun := time.Now()
	last := begun
	for buf := make([]byte, 64<<10); got+len(buf) <= stallSize; { // the rest is less than a buffer
		n, err := io.ReadFull(c, buf)
		now := time.Now()
		got, pause, last = got+n, max(pause, now.Sub(last)), now
		if err != nil {
			return got, pause, time.Since(begun), err
		}
		<-pace.C
	}
	return got, pause, time.Since(begun), nil
}
