package dial

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// start returns a Dialer for the names and addresses of a test.
func start(t *testing.T, r *resolver, n *network) *Dialer {
	t.Helper()
	d := New(Options{Lookup: r.lookup, Connect: n.connect})
	t.Cleanup(func() {
		d.Close()
		if n.open != 0 {
			t.Errorf("got %d connections that nobody closed", n.open)
		}
	})
	return d
}

func TestAddressThatDoesNotAnswerCostsItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]host{"10.0.0.1:80": {after: 10 * time.Millisecond}}}
		d := start(t, &resolver{addrs: addresses("fd00::1 fd00::2 10.0.0.1")}, n)
		wantDial(t, d, "10.0.0.1:80", 260*time.Millisecond)
		if got := strings.Join(n.tried, " "); got != "[fd00::1]:80 10.0.0.1:80" {
			t.Errorf("tried %s, want the other family second", got)
		}
		wantDial(t, d, "10.0.0.1:80", 10*time.Millisecond) // it goes first now
	})
}

// The one that goes first may die, or take connections and answer nothing.
func TestAddressThatGoesFirstGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]host{"10.0.0.1:80": {}, "10.0.0.2:80": {}, "10.0.0.3:80": {}}}
		d := start(t, &resolver{addrs: addresses("10.0.0.1 10.0.0.2 10.0.0.3")}, n)
		failed := func(address string) {
			t.Helper()
			wantDial(t, d, address+":80", 0)
			d.Failed("app.test:80", &net.TCPAddr{IP: net.ParseIP(address), Port: 80})
		}
		failed("10.0.0.1")
		failed("10.0.0.2")
		wantDial(t, d, "10.0.0.3:80", 0)
		wantDial(t, d, "10.0.0.3:80", 0)
		failed("10.0.0.3")
		failed("10.0.0.1") // the first to have failed has had the longest time

		delete(n.hosts, "10.0.0.2:80")
		wantDial(t, d, "10.0.0.3:80", 250*time.Millisecond)
		wantDial(t, d, "10.0.0.3:80", 0)
		delete(n.hosts, "10.0.0.3:80")
		wantDial(t, d, "10.0.0.1:80", 500*time.Millisecond)
		wantDial(t, d, "10.0.0.1:80", 0)
	})
}

func TestFailureOfWhatIsNoNameIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{addrs: addresses("10.0.0.1")}, everywhere())
		d.Failed("10.0.0.1:80", &net.TCPAddr{IP: net.ParseIP("10.0.0.1")})
		d.Failed("other.test:80", &net.TCPAddr{IP: net.ParseIP("10.0.0.1")})
		wantDial(t, d, "10.0.0.1:80", 0)
		d.Failed("app.test:80", &net.UnixAddr{})
		d.Failed("app.test:80", nil)
		for i := range 100 {
			d.Failed("app.test:80", &net.TCPAddr{IP: net.IPv4(10, 0, 1, byte(i/2))}) // each twice
		}
		last := d.names.known["app.test"].last
		if n := len(d.names.known); n != 1 || len(last) != maxAddresses || last[0].String() != "10.0.1.34" {
			t.Errorf("got %d names, and the addresses %v that failed, want 1, and %d from 10.0.1.34 on", n, last, maxAddresses)
		}
	})
}

func TestRefusedAddressGivesWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{addrs: addresses("10.0.0.1 10.0.0.2 10.0.0.3")}, &network{hosts: map[string]host{
			"10.0.0.1:80": {after: time.Millisecond, err: errRefused}, "10.0.0.2:80": {err: errRefused}, "10.0.0.3:80": {},
		}})
		wantDial(t, d, "10.0.0.3:80", time.Millisecond)
	})
}

func TestAllRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{addrs: addresses("10.0.0.1 10.0.0.2")}, &network{hosts: map[string]host{
			"10.0.0.1:80": {err: errRefused}, "10.0.0.2:80": {err: errors.New("another")},
		}})
		_, _, err := dialTo(t, d)
		if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "none of 2 addresses") {
			t.Errorf("got error %v, want the first one's, and of how many", err)
		}
	})
}

func TestAllSilentIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{addrs: addresses("10.0.0.1 10.0.0.2")}, &network{})
		_, took, err := dialTo(t, d)
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() || took != 3*time.Second {
			t.Errorf("got error %v after %v, want a timeout after 3s", err, took)
		}
	})
}

// A connection that is made after another has won is closed: start looks.
func TestSlowerConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{addrs: addresses("10.0.0.1 10.0.0.2")}, &network{hosts: map[string]host{
			"10.0.0.1:80": {after: 2 * time.Second}, "10.0.0.2:80": {after: time.Second},
		}})
		wantDial(t, d, "10.0.0.2:80", 1250*time.Millisecond)
	})
}

func TestAddressIsDialledAsItIs(t *testing.T) {
	n := &network{hosts: map[string]host{"[fd00::1]:80": {}, "10.0.0.1:80": {}}}
	r := &resolver{err: errors.New("asked for an address")}
	d := start(t, r, n)
	for _, address := range []string{"[fd00::1]:80", "10.0.0.1:80"} {
		c, err := d.Dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if r.count() != 0 {
		t.Errorf("the resolver was asked %d times for addresses", r.count())
	}
}

func TestCloseEndsDialsAndLookups(t *testing.T) {
	for _, r := range []*resolver{{hangs: true}, {addrs: addresses("10.0.0.1")}} {
		synctest.Test(t, func(t *testing.T) {
			d := start(t, r, &network{})
			ended := make(chan error, 1)
			go func() {
				_, err := d.Dial(t.Context(), "tcp", "app.test:80")
				ended <- err
			}()
			synctest.Wait()
			d.Close()
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("under way: got error %v, want ErrClosed", err)
			}
			if _, err := d.Dial(t.Context(), "tcp", "app.test:80"); !errors.Is(err, ErrClosed) {
				t.Errorf("after it: got error %v, want ErrClosed", err)
			}
		})
	}
}

func TestContextEndsADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, &resolver{hangs: true}, &network{})
		left := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(left) })
		if _, err := d.Dial(ctx, "tcp", "app.test:80"); !errors.Is(err, left) {
			t.Errorf("got error %v, want why the context ended", err)
		}
	})
}
