package origin

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// stuck is a connection whose writes make no progress from some time on.
type stuck struct {
	net.Conn
	now    atomic.Bool
	begun  chan struct{} // closed once a write waits
	closed chan struct{}
	once   [2]sync.Once
}

func (s *stuck) Write(p []byte) (int, error) {
	if !s.now.Load() {
		return s.Conn.Write(p)
	}
	s.once[0].Do(func() { close(s.begun) })
	<-s.closed
	return 0, net.ErrClosed
}

func (s *stuck) Close() error {
	s.once[1].Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// A server that takes nothing any more holds nobody up for longer than each may wait, although requests share the
// connection.
func TestAStuckConnectionByHTTP2HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	var c *stuck // the first
	sent := make(chan struct{})
	o := byFrames(t, Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, address)
		if c != nil {
			return nc, err
		}
		c = &stuck{Conn: nc, begun: make(chan struct{}), closed: make(chan struct{})}
		return c, err
	}}, func(n int, f *framer) {
		if n > 0 { // who had its turn asks again
			f.ok(f.request())
			f.request()
			return
		}
		for range 2 {
			id := f.request()
			f.head(id, false, ":status", "200")
			for range 6 {
				_ = f.WriteData(id, false, []byte(strings.Repeat("x", 10000)))
			}
		}
		f.untilHeard()
		close(sent)
		f.request()
	})
	begun := func() *Response {
		res, err := o.RoundTrip(t.Context(), &Request{Method: "GET", Target: "/", Host: "h", Idle: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	unwanted, wanted := begun(), begun()
	<-sent
	c.now.Store(true)
	go func() { _, _, _ = fetch(o, get("/")) }() // it is its turn to write, for ever
	<-c.begun
	soon(t, "an upload", func() {
		_, _, err := fetch(o, &Request{Method: "POST", Target: "/", Host: "h", Idle: 10 * time.Millisecond, Body: strings.NewReader("x"), ContentLength: 1})
		wantKind(t, err, Timeout)
	})
	soon(t, "a body that nobody wants", func() { _ = unwanted.Body.Close() })
	soon(t, "a body", func() {
		_, err := io.ReadAll(wanted.Body)
		wantKind(t, err, Timeout)
	})
	eventually(t, "nothing is under way", func() bool { return openCount(o) == 0 })
}

// soon calls f, which has to return before anybody would think that it hangs.
func soon(t *testing.T, name string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(testkit.Patience):
		t.Fatalf("%s: hangs", name)
	}
}
