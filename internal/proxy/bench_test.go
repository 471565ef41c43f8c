package proxy_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
)

// BenchmarkHit measures what this program does for a hit, without the kernel:
// request and answer go through a connection that costs nothing.
func BenchmarkHit(b *testing.B) {
	f := func(name, path, more, status, yaml string, then ...func(testing.TB, *edgetest.Edge)) {
		b.Run(name, func(b *testing.B) {
			l := newReplayListener()
			e := start(b, always+yaml, l.before(hitOrigin(b)))
			conn := func(requests int, path string) *replayConn {
				return &replayConn{request: hitRequest(http.MethodGet, path, more), left: requests, done: make(chan struct{})}
			}
			if path == searchTarget {
				l.serve(conn(1, searchNormal))
			}
			l.serve(conn(2, path))
			for _, do := range then {
				do(b, e)
			}
			hits := func() float64 {
				return e.Metric(b, "edgeproxy_requests_total", "route=default", "result=hit", "status="+status)
			}
			before := hits()
			c := conn(b.N, path)
			if before, uploads := uploadsBefore[name]; uploads {
				c.rest = []byte(before)
			}
			b.ReportAllocs()
			b.ResetTimer()
			l.serve(c)
			b.StopTimer()
			if got := hits() - before; got != float64(b.N) {
				b.Errorf("hits: got %v, want %d", got, b.N)
			}
		})
	}
	f("1KiB", "/1024", "", "2xx", "")
	f("1KiB, after an upload", "/1024", "", "2xx", "")
	f("1KiB, after an upload in chunks", "/1024", "", "2xx", "")
	f("16KiB", "/16384", "", "2xx", "")
	f("variant", "/vary/1024", "", "2xx", "")
	f("a query by a rule", searchTarget, "", "2xx", "cache: {no_vary_search: true}\n")
	f("not-modified", "/1024", "If-None-Match: "+hitETag+"\r\n", "3xx", "")
	f("tagged, after other purges", "/1024", "", "2xx", "", purgeOthers)
	f("counted by host and URL", "/1024", "", "2xx", countsAll)
}

// uploadsBefore are what a connection sends before its hits.
var uploadsBefore = map[string]string{
	"1KiB, after an upload":           "POST /1024/up HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 3\r\n\r\na=b",
	"1KiB, after an upload in chunks": "POST /1024/up HTTP/1.1\r\nHost: edge.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n",
}

// countsAll has everything counted that a setting can ask for.
const countsAll = `metrics: {hosts: [other.example, "*.example"], top: {entries: 256, window: 1h}}
`

// BenchmarkMiss measures a miss, the origin and its connection included: what is shared,
// and what is fetched for one client alone.
func BenchmarkMiss(b *testing.B) {
	f := func(name, method, path, more string) {
		b.Run(name, func(b *testing.B) {
			l := newReplayListener()
			_ = start(b, "admission: {policy: never}", l.before(hitOrigin(b)))
			conn := func(requests int) *replayConn {
				return &replayConn{request: hitRequest(method, path, more), left: requests, done: make(chan struct{})}
			}
			l.serve(conn(2))
			c := conn(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			l.serve(c)
		})
	}
	f("held back", http.MethodGet, "/1024", "")
	f("for one client", http.MethodHead, "/1024", "")
}

// replayListener accepts the connections it is told to serve.
type replayListener struct {
	conns   chan net.Conn
	closed  chan struct{}
	closing sync.Once // a listener may be closed twice
}

func newReplayListener() *replayListener {
	return &replayListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// before has an edge accept from l. Its admin listener is a socket.
func (l *replayListener) before(o edgetest.Options) edgetest.Options {
	o.Seams.Listen = func(address string) (net.Listener, error) {
		if strings.HasPrefix(address, "127.") {
			return net.Listen("tcp", "127.0.0.1:0")
		}
		return l, nil
	}
	return o
}

// serve hands c to the server and waits until the server has closed it.
func (l *replayListener) serve(c *replayConn) {
	l.conns <- c
	<-c.done
}

func (l *replayListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *replayListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}

func (l *replayListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// replayConn is a client that sends the same request again for each answer, and
// then ends. It drops the answers.
type replayConn struct {
	request []byte
	rest    []byte // the rest of the request under way: the server may read its first byte alone
	left    int
	done    chan struct{}
}

func (c *replayConn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		c.left--
		c.rest = c.request
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *replayConn) Write(b []byte) (int, error) { return len(b), nil }

func (c *replayConn) Close() error {
	close(c.done)
	return nil
}

func (c *replayConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (c *replayConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (c *replayConn) SetDeadline(time.Time) error      { return nil }
func (c *replayConn) SetReadDeadline(time.Time) error  { return nil }
func (c *replayConn) SetWriteDeadline(time.Time) error { return nil }
