package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// missAllocs is how often one miss may allocate, from the first byte of the request to the last of
// the answer, connections included: a browser's request, and a response of 1 KiB with eight fields
// that is held back. It is near what it was measured to be. writtenAllocs is the same for one that is stored on a disk,
// with what its writer allocates.
const (
	missAllocs    = 7
	writtenAllocs = 9
)

// TestMissAllocations keeps a miss from getting dearer by and by.
func TestMissAllocations(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	f := func(name, yaml string, most float64) {
		t.Run(name, func(t *testing.T) {
			e := start(t, yaml, edgetest.Options{Origin: quickOrigin(t)})
			conn, err := net.Dial("tcp", e.Address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			m := &missClient{hitClient: hitClient{conn: conn, buffer: make([]byte, 64<<10)}}
			m.next()
			m.learn(t, m.request)
			if got := m.allocsPerMiss(t); got > most {
				t.Errorf("got %.1f allocations a miss, want at most %.0f", got, most)
			}
		})
	}
	f("held back", held, missAllocs)
	f("stored on a disk", always+`cache: {disk: {path: "{dir}/disk", max_bytes: 256MiB, min_free: 0%}}`, writtenAllocs)
}

// missClient asks for something else each time.
type missClient struct {
	hitClient
	n int
}

func (m *missClient) next() {
	m.n++
	m.request = hitRequest(http.MethodGet, fmt.Sprintf("/%08d", m.n), "")
}

// allocsPerMiss counts for the whole process, where the origin allocates nothing.
func (m *missClient) allocsPerMiss(t *testing.T) float64 {
	t.Helper()
	requests := make([][]byte, 1000)
	for i := range requests {
		m.next()
		requests[i] = m.request
	}
	at := 0
	return testing.AllocsPerRun(len(requests)-1, func() {
		m.request = requests[at]
		at++
		if err := m.ask(); err != nil {
			t.Fatal(err)
		}
	})
}

// quickOrigin answers each request with the same bytes, and allocates nothing for it.
func quickOrigin(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	response := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: max-age=3600\r\n"+
		"Etag: %s\r\nLast-Modified: %s\r\nServer: test\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 1024\r\n\r\n%01024d", time.Now().UTC().Format(http.TimeFormat), hitETag, hitModified, 0)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAll(c, response)
		}
	}()
	return l.Addr().String()
}

// answerAll answers each request on c, and ends with it.
func answerAll(c net.Conn, response []byte) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		if len(line) > len("\r\n") {
			continue
		}
		if _, err := c.Write(response); err != nil {
			return
		}
	}
}
