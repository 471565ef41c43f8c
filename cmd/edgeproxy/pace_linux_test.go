package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestAClientThatTricklesLosesItsAnswer: it took a little now and then, of a hit or of what
// passes, and kept its place for days. A client that takes more than the
// pace asks for stays.
func TestAClientThatTricklesLosesItsAnswer(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	body := make([]byte, size)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", map[bool]string{true: "max-age=600", false: "no-store"}[r.URL.Path == "/hit"])
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(body)
	}))
	t.Cleanup(origin.Close)
	s := serveBinary(t, "-c", writeFile(t, "pace.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
admission: {policy: always}
cache: {memory: {max_bytes: 128MiB, max_object_bytes: 16MiB}}
origins: {app: {servers: [%q]}}
limits: {send_rate: {bytes: 12MiB, over: 3s}} # a busy machine keeps us from reading for a second
`, origin.URL)))
	// The first client leaves at once: the response is stored all the same. On a busy machine a client that reads it all might be slower than send_rate.
	first := s.dialSmall(4 << 10)
	if _, err := fmt.Fprintf(first, "GET /hit HTTP/1.1\r\nHost: %s\r\n\r\n", s.address); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	eventually(t, "/hit is stored", func() bool { return s.gauge(`edgeproxy_cache_writes_total{tier="memory"}`) == 1 })
	take := func(path string, piece int64) (n int64, err error) {
		c := s.dialSmall(4 << 10)
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, s.address); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for n < size && err == nil {
			<-tick.C
			var m int64
			m, err = io.CopyN(io.Discard, res.Body, min(piece, size-n))
			n += m
		}
		return n, err
	}
	for i, path := range []string{"/hit", "/pass"} {
		if n, err := take(path, 4<<10); err == nil {
			t.Errorf("%s, slowly: got %d bytes of %d, and no end", path, n, size)
		}
		s.awaitSlow(i + 1)
	}
}

// TestAStreamThatTricklesIsReset: the window of a stream of HTTP/2 is its client's to open,
// whatever its connection takes.
func TestAStreamThatTricklesIsReset(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, size))
	}))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "limits: {send_rate: {bytes: 4MiB, over: 1s}}")
	c := s.raw(t)
	window := func(n uint32) []byte { return frame(8, 0, 1, binary.BigEndian.AppendUint32(nil, n)) }
	_, _ = c.Write(frame(8, 0, 0, binary.BigEndian.AppendUint32(nil, 1<<30))) // the window of the connection
	_, _ = c.Write(frame(1, 5, 1, fields(":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/a")))
	done := make(chan struct{})
	defer close(done)
	go func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-tick.C:
				_, _ = c.Write(window(8 << 10))
			case <-done:
				return
			}
		}
	}()
	r, taken := bufio.NewReader(c), 0
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(r, head); err != nil {
			t.Fatalf("after %d bytes: %v, want the stream reset", taken, err)
		}
		length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
			t.Fatal(err)
		}
		switch head[3] {
		case 3: // RST_STREAM
			s.awaitSlow(1)
			return
		case 0: // DATA
			if taken += length; head[4]&1 != 0 {
				t.Fatalf("got all %d bytes", taken)
			}
		}
	}
}

// awaitSlow waits until n answers are counted as ended for send_rate. The client may see the
// end of one before it is counted.
func (s *server) awaitSlow(n int) {
	s.t.Helper()
	testkit.Eventually(s.t, fmt.Sprintf("%d answers counted as ended for send_rate", n), func() bool {
		return s.gauge(`edgeproxy_limit_rejections_total{limit="send_rate"}`) == float64(n)
	})
}
