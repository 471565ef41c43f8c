//go:build linux

package fair

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// nowhere is a route to an origin that refuses connections: what asks for it is logged.
const nowhere = `  away: {servers: ["http://127.0.0.1:9"], ejection: {failures: 0}}
routes:
  - {name: away, match: {path_prefix: /away}, origin: away}
  - {name: default, origin: app}
shutdown: {drain_timeout: 2m}
`

// processAttacks take what the process itself needs.
func processAttacks() []attack {
	return []attack{
		{
			name: "failing misses, and nobody reads the log", long: times(2800*time.Millisecond, 6*time.Second),
			edge: settings{deaf: true, sections: nowhere},
			play: func(w *wave) {
				w.rate(300, func(n int) { w.all.Go(func() { w.send(n%8, w.head("GET", fmt.Sprintf("/away/%d", n), "")) }) })
			},
			meanwhile: purgesWork,
			end:       endsBySignal,
		},
		{
			name: "an access log that is a FIFO, and nobody reads it", long: times(2800*time.Millisecond, 6*time.Second),
			edge:      settings{sections: "access_log: {path: \"DIR/fifo\"}\nshutdown: {drain_timeout: 2m}\n"},
			play:      func(w *wave) { flood(w, hot, 400) },
			meanwhile: purgesWork,
			end:       endsBySignal,
		},
		{
			name: "1,000 silent connections a second to TLS", soak: true, long: times(0, 10*time.Second), slowest: time.Second,
			edge: settings{secure: true},
			play: func(w *wave) { silent(w, 1000, 2800, func(n int) int { return n % 8 }) },
		},
		{
			name: "1,000 silent connections a second to TLS, of the honest client's address", soak: true, long: times(0, 10*time.Second), slowest: time.Second,
			edge: settings{secure: true},
			play: func(w *wave) { silent(w, 1000, 2800, func(int) int { return neighbour }) },
		},
		{
			name: "as many idle connections as limits.connections", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{sections: "limits: {connections: 200}\n"},
			play: func(w *wave) {
				w.each(200, time.Second, func(n int) {
					c, in, err := w.keptAlive(n%20, hot.target())
					if err != nil {
						return
					}
					defer c.Close()
					_, _ = in.ReadByte() // until it is let go, or the attack is over
				})
			},
		},
		{
			name: "as many silent connections as limits.connections", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{sections: "limits: {connections: 200}\n"},
			play: func(w *wave) {
				w.each(200, time.Second, func(n int) {
					if c, err := w.connect(n%20, false); err == nil {
						defer c.Close()
						_, _ = c.Read(make([]byte, 1))
					}
				})
			},
		},
		{
			name: "100 tunnels, a limit of 20", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{sections: "limits: {requests_in_flight: 100, tunnels: 20} # new\n" + "limits: {requests_in_flight: 100} # old\n"},
			play: func(w *wave) {
				w.each(100, 500*time.Millisecond, func(n int) {
					c, err := w.connect(n%10, false)
					if err != nil {
						return
					}
					defer c.Close()
					_, _ = io.WriteString(c, w.head("GET", fmt.Sprintf("/tunnel/%d?tunnel=1", n), "Connection: Upgrade\r\nUpgrade: echo\r\n"))
					res, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err != nil {
						return
					}
					if w.saw(fmt.Sprint(res.StatusCode)); res.StatusCode == http.StatusSwitchingProtocols {
						_, _ = c.Read(make([]byte, 1)) // until it is let go, or the attack is over
					}
				})
			},
			check: func(s *scene) {
				if s.note("%d tunnels, %d refused", s.count("101"), s.count("503")+s.count("429")); s.count("101") != 20 || s.count("503")+s.count("429") < 80 {
					s.fail("got %v of 100 tunnels, want 20 to stand and the others to be refused", s.seen)
				}
			},
		},
	}
}

// purgesWork purges while the attack is under way, and wants an answer each time.
func purgesWork(w *wave) {
	for ; w.ctx.Err() == nil; w.wait(200 * time.Millisecond) {
		purge, stop := context.WithTimeout(context.WithoutCancel(w.ctx), testkit.Patience)
		_, err := w.s.edge.purged(purge, `{"url": "http://a.test/nothing"}`)
		stop()
		if err != nil {
			w.s.fail("a purge under the attack: %v", err)
			return
		}
	}
}

// endsBySignal stops the program by SIGTERM.
func endsBySignal(s *scene) {
	if m := s.edge.metrics(); m != nil {
		s.note("%.0f lines dropped", m.Sum("edgeproxy_log_dropped_total")+m.Sum("edgeproxy_access_log_dropped_total"))
	}
	s.honest.leave()
	_ = s.edge.served.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.edge.served.Ended:
		if code := s.edge.served.State.ExitCode(); code != 0 {
			s.fail("SIGTERM ends it with %d, want 0", code)
		}
	case <-time.After(testkit.Patience): // less than drain_timeout
		s.fail("SIGTERM is not heard within %v", testkit.Patience)
	}
}

// silent opens connections that say nothing, so many a second and so many at once, by the
// attackers that who numbers. The oldest go first.
func silent(w *wave, perSecond, most int, who func(n int) int) {
	var mu sync.Mutex
	var open []*net.TCPConn
	w.rate(perSecond, func(n int) {
		w.all.Go(func() {
			c, err := w.connect(who(n), false)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if open = append(open, c); len(open) > most {
				reset(open[0])
				open = open[1:]
			}
		})
	})
	for _, c := range open {
		reset(c)
	}
}

// TestSecondSignalEndsADeafProgram: with a request under way and a log that nobody reads,
// the first SIGTERM waits for the request, the second for nothing.
func TestSecondSignalEndsADeafProgram(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program does the work")
	t.Parallel()
	o := startOrigin(t)
	e := startEdge(t, o.address, settings{deaf: true, sections: nowhere})
	for n := range 600 { // an answer may never come
		c, err := net.Dial("tcp", e.host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = fmt.Fprintf(c, "GET /away/%d HTTP/1.1\r\nHost: a.test\r\n\r\n", n)
	}
	testkit.Eventually(t, "what it says is more than a pipe holds", func() bool {
		return e.metrics().Sum("edgeproxy_origin_requests_total") >= 350
	})
	c, err := net.Dial("tcp", e.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	held := thing{path: "/held", size: small, delay: time.Minute}
	if _, err := io.WriteString(c, "GET "+held.target()+" HTTP/1.1\r\nHost: a.test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the origin is asked", func() bool { return o.times("/held") == 1 })
	_ = e.served.Process.Signal(syscall.SIGTERM)
	testkit.Eventually(t, "nobody new is served", func() bool {
		c, err := net.Dial("tcp", e.host)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	_ = e.served.Process.Signal(syscall.SIGTERM)
	select {
	case <-e.served.Ended:
		if code := e.served.State.ExitCode(); code != 1 {
			t.Errorf("ended with %d, want 1", code)
		}
	case <-time.After(testkit.Patience): // less than drain_timeout
		t.Error("the second SIGTERM is not heard")
	}
}

// fifo makes a FIFO that is open and that nobody reads.
func fifo(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
}
