package origin

import (
	"bufio"
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// moving is a server whose name can be moved from one address to another.
type moving struct {
	mu      sync.Mutex
	address netip.AddrPort
	dials   []string
	left    func(netip.Addr)
	stopped int
	playing sync.WaitGroup
}

func (m *moving) dial(context.Context, string, string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.address
	m.dials = append(m.dials, a.Addr().String())
	ours, theirs := net.Pipe()
	m.playing.Go(func() {
		defer theirs.Close()
		each(okWire)(0, &peer{Conn: theirs, br: bufio.NewReader(theirs)})
	})
	return &at{ours, a}, nil
}

func (m *moving) watch(_ string, left func(netip.Addr)) (stop func()) {
	m.left = left
	return func() { m.stopped++ }
}

func (m *moving) move(to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.address = netip.MustParseAddrPort(to)
}

func (m *moving) wantDials(t *testing.T, want string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if got := strings.Join(m.dials, " "); got != want {
		t.Errorf("dialled %q, want %q", got, want)
	}
	m.dials = nil
}

func startMoving(t *testing.T, o Options) (*Origin, *moving) {
	t.Helper()
	m := &moving{address: netip.MustParseAddrPort("10.0.0.1:80")}
	t.Cleanup(m.playing.Wait)
	o.Address, o.Dial, o.Watch = "app.test:80", m.dial, m.watch
	return open(t, o), m
}

// 165 of 165 answers were from the old address, 100 seconds after the name was moved.
func TestAMovedNameWasNotFollowedWhileTheOldServerLived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := startMoving(t, Options{})
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		m.wantDials(t, "10.0.0.1")
		res, err := o.RoundTrip(t.Context(), get("/")) // in use while the address leaves
		if err != nil {
			t.Fatal(err)
		}
		m.move("10.0.0.2:80")
		m.left(netip.MustParseAddr("10.0.0.1"))
		_ = res.Body.Close()
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		m.wantDials(t, "10.0.0.2")

		m.left(netip.MustParseAddr("10.0.0.2"))
		if n := idleCount(o); n != 0 {
			t.Errorf("got %d idle connections to an address that has left", n)
		}
		m.move("10.0.0.1:80") // it is back, and its connections are kept again
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		m.wantDials(t, "10.0.0.1")
		o.Close()
		if m.stopped == 0 {
			t.Error("got no end of the watch")
		}
	})
}

func TestConnectionsEndAtTheirAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := startMoving(t, Options{Settings: Settings{MaxAge: 10 * time.Minute}})
		for range 100 {
			wantBody(t, o, get("/"), "ok")
			time.Sleep(30 * time.Second)
		}
		n := len(m.dials) // in 50 minutes, one each nine to ten
		if n != 5 && n != 6 {
			t.Errorf("got %d connections, want 5 or 6", n)
		}
	})
}

// With a keep-alive of none each connection says that it ends.
func TestWithoutKeepAliveEachConnectionCarriesOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		o := inMemory(t, Options{KeepAlive: -1}, func(_ int, p *peer) {
			asked = append(asked, p.request())
			p.say(okWire)
			p.untilClosed()
		})
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		if len(asked) != 3 || !strings.Contains(asked[0], "\r\nConnection: close\r\n") {
			t.Errorf("got %q, want three connections, each closed", asked)
		}
	})
}
