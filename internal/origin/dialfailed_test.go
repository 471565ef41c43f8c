package origin

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/origin/dial"
)

// at is a connection in memory to an address.
type at struct {
	net.Conn
	address netip.AddrPort
}

func (c *at) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.address) }

// named returns an Origin of one server, app.test, whose two addresses play each its
// script. Both take connections, the first is the first of the resolver.
func named(t *testing.T, o Options, first, second script) *Origin {
	t.Helper()
	addrs := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}
	k := &cluster{}
	t.Cleanup(k.playing.Wait)
	d := dial.New(dial.Options{
		Lookup: func(context.Context, string) ([]netip.Addr, time.Duration, error) { return addrs, 0, nil },
		Connect: func(_ context.Context, _, address string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			a := netip.MustParseAddrPort(address)
			k.playing.Go(func() {
				defer theirs.Close()
				map[bool]script{true: first, false: second}[a.Addr() == addrs[0]](0, &peer{Conn: theirs, br: bufio.NewReader(theirs)})
			})
			return &at{ours, a}, nil
		},
	})
	t.Cleanup(d.Close)
	o.Address, o.Dial, o.DialFailed = "app.test:80", d.Dial, d.Failed
	return open(t, o)
}

// A process that hangs still takes connections: one address of a name that did went
// first for good, and the other was never asked.
func TestAddressThatOnlyTakesConnectionsGivesWay(t *testing.T) {
	f := func(name string, o Options, first script, want Kind) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := named(t, o, first, answers)
			_, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: "/", Host: "h"})
			wantKind(t, err, want)
			for range 3 {
				if _, _, err := fetch(o, get("/")); err != nil {
					t.Errorf("%s: got error %v, want what the other address says", name, err)
				}
			}
		})
	}
	f("hangs", Options{}, func(_ int, p *peer) { p.untilClosed() }, Timeout)
	f("cuts", Options{}, func(_ int, p *peer) { p.request() }, Cut)
	f("speaks rubbish", Options{}, each("rubbish\r\n\r\n"), Malformed)
}

func TestAddressThatSpeaksNoTLSGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan string, 4)
		hears := func(name string) script {
			return func(_ int, p *peer) {
				seen <- name
				p.say("HTTP/1.1 400 Speak plainly\r\n\r\n")
			}
		}
		o := named(t, Options{TLS: &tls.Config{}}, hears("a"), hears("b"))
		for range 2 {
			_, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: "/", Host: "h"})
			wantKind(t, err, Connect)
		}
		if a, b := <-seen, <-seen; a != "a" || b != "b" {
			t.Errorf("got %s and %s, want the other address after the one that failed", a, b)
		}
	})
}

func TestHealthChecksLeaveAnAddressThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := named(t, Options{Settings: Settings{Health: Health{Path: "/health", Interval: 10 * time.Second, Unhealthy: 2}}}, func(_ int, p *peer) { p.untilClosed() }, answers)
		time.Sleep(time.Minute)
		if s := o.Stats(time.Now()).Servers[0]; s.State != balance.Up {
			t.Errorf("got %v, want up by its other address", s.State)
		}
	})
}

// A client that leaves, and a connection that had been given up, say nothing of the
// address.
func TestWhatSaysNothingOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		o := named(t, Options{}, func(_ int, p *peer) {
			for p.request() != "" {
				switch asked.Add(1) {
				case 1: // until the client leaves
					p.untilClosed()
				case 3: // the connection is given up
					return
				}
				p.say(okWire)
			}
		}, func(_ int, p *peer) {
			if r := p.request(); r != "" {
				t.Errorf("the other address got %s", strings.SplitN(r, "\r\n", 2)[0])
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := o.RoundTrip(ctx, get("/"))
		wantKind(t, err, Canceled)
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		if n := asked.Load(); n != 5 {
			t.Errorf("got %d requests, want three, one that was left and one that was lost", n)
		}
	})
}
