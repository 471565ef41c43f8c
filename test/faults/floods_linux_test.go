package faults

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// floodSettings let the program end slow clients by itself, after a while that is long
// enough to look at what they do to others, and keep the cache small beside what a copy
// of each answer would take.
const floodSettings = `
cache: {memory: {max_bytes: 16MiB, max_object_bytes: 4MiB}}
limits: {header_timeout: ` + floodTime + `, write_idle_timeout: ` + floodTime + `, inflight_bytes: 8MiB}
`

// perConnection is what docs/operating/sizes.md says that an open connection takes: buffers of
// limits.header_bytes + 8 KiB, and a stack of 8 KiB. The 48 MiB of the formula's base have
// room for fifteen hundred of them.
const (
	perConnection = 16<<10 + 8<<10 + 8<<10
	inBase        = 48 << 20 / perConnection
)

// TestFloodOfSlowHeaders: clients that send a request byte by byte and never end it.
func TestFloodOfSlowHeaders(t *testing.T) {
	testkit.Slow(t, "it loads the built program")
	testkit.Plain(t, "the program does the work")
	t.Parallel()
	flood(t, func(c *net.TCPConn) error {
		_, err := c.Write([]byte("GET /slow HTTP/1.1\r\nHost: a.test\r\nX-Slow: "))
		return err
	}, func(c *net.TCPConn) { _, _ = c.Write([]byte("a")) })
}

// TestFloodOfStalledReaders: clients that ask for a stored MiB and take nothing of it.
func TestFloodOfStalledReaders(t *testing.T) {
	testkit.Slow(t, "it loads the built program")
	testkit.Plain(t, "the program does the work")
	t.Parallel()
	flood(t, func(c *net.TCPConn) error {
		_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a.test\r\n\r\n", large.target())
		return err
	}, func(*net.TCPConn) {})
}

var large = object{path: "/large", cc: "max-age=600", size: 1 << 20}

// flood opens connections that begin as they are told and then do a step each, over and
// over, while a well-behaved client asks for what is stored.
func flood(t *testing.T, begin func(*net.TCPConn) error, step func(*net.TCPConn)) {
	t.Helper()
	e := startEdge(t, startOrigin(t, false), "", floodSettings)
	c := newClient(t)
	for _, o := range []object{fresh, large} {
		compare(t, "warm", e.get(c, o), "200 fwd=uri-miss")
		compare(t, "warm", e.get(c, o), "200 hit")
	}
	idle := e.hits(c, floodHits)
	n := fitting(t, floodConnections)
	f := openFlood(t, e, n, begin, step)
	eventually(t, "all are connected", func() bool { return e.level().clients >= float64(n) })
	flooded := e.hits(c, floodHits)
	m := e.metrics()
	if got := m.Sum("edgeproxy_connections"); got < float64(n) {
		t.Errorf("%v of %d connections are left when the hits are done: this shows nothing", got, n)
	}
	used := m["go_memstats_sys_bytes"] - m["go_memstats_heap_released_bytes"]
	limit := m["go_gc_gomemlimit_bytes"] + float64(max(0, n-inBase)*perConnection)
	if used > limit {
		t.Errorf("memory with %d connections: got %.1f MiB, want at most %.1f MiB", n, used/(1<<20), limit/(1<<20))
	}
	t.Logf("%d connections: %.1f MiB of at most %.1f MiB; p99 of a hit %v, %v before", n, used/(1<<20), limit/(1<<20), flooded, idle)
	if compareP99 && flooded > 3*idle {
		t.Errorf("p99 of a hit: got %v under the flood, want at most 3 times the %v before", flooded, idle)
	}
	c.CloseIdleConnections()
	eventually(t, "the program has let all of them go", func() bool { return e.level().clients == 0 })
	f.stop()
	e.wantBack()
}

// hits asks for what is stored, and returns the 99th percentile of the time it takes.
func (e *edge) hits(c *http.Client, number int) time.Duration {
	e.t.Helper()
	var took []time.Duration
	for range number {
		begin := time.Now()
		compare(e.t, "a hit", e.get(c, fresh), "200 hit")
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// flooding are connections that bother the program.
type flooding struct {
	connections []*net.TCPConn
	stopping    atomic.Bool
	running     sync.WaitGroup
}

func openFlood(t *testing.T, e *edge, n int, begin func(*net.TCPConn) error, step func(*net.TCPConn)) *flooding {
	t.Helper()
	f := &flooding{}
	t.Cleanup(f.stop)
	dialer := net.Dialer{Timeout: patience, Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { // before the window is offered
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
	}}
	for range n {
		c, err := dialer.Dial("tcp", e.host)
		if err != nil {
			t.Fatal(err)
		}
		f.connections = append(f.connections, c.(*net.TCPConn))
		if err := begin(c.(*net.TCPConn)); err != nil {
			t.Fatal(err)
		}
	}
	f.running.Go(func() {
		pace := time.NewTicker(500 * time.Millisecond)
		defer pace.Stop()
		for ; !f.stopping.Load(); <-pace.C {
			for _, c := range f.connections {
				step(c)
			}
		}
	})
	return f
}

func (f *flooding) stop() {
	f.stopping.Store(true)
	f.running.Wait()
	for _, c := range f.connections {
		c.Close()
	}
}

// fitting returns how many of n connections the limits of this process and of the program
// have room for. Go has raised the soft limit to the hard one.
func fitting(t *testing.T, n int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 500 // descriptors of the other tests
	room := max(int(min(limit.Cur, 1<<20))-others, 50)
	if room < 2*n {
		t.Logf("%d descriptors are all: %d connections in place of %d", limit.Cur, min(n, room/2), n)
	}
	return min(n, room/2)
}
