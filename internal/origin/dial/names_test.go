package dial

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errResolver = errors.New("no such host, says a resolver that may be wrong")

// everywhere answers on two addresses.
func everywhere() *network {
	return &network{hosts: map[string]host{"10.0.0.1:80": {}, "10.0.0.2:80": {}}}
}

func wantAsked(t *testing.T, r *resolver, want int) {
	t.Helper()
	synctest.Wait()
	if got := r.count(); got != want {
		t.Errorf("the resolver was asked %d times, want %d", got, want)
	}
}

func TestAnswerIsUsedWhileFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{addrs: addresses("10.0.0.1")}
		d := start(t, r, everywhere())
		wantDial(t, d, "10.0.0.1:80", 0)
		r.set("10.0.0.2", nil, false)
		time.Sleep(29 * time.Second)
		wantDial(t, d, "10.0.0.1:80", 0)
		wantAsked(t, r, 1)
		time.Sleep(2 * time.Second)
		wantDial(t, d, "10.0.0.1:80", 0) // this one asks, in the background
		wantAsked(t, r, 2)
		wantDial(t, d, "10.0.0.2:80", 0)
		time.Sleep(time.Hour)
		r.set("10.0.0.1", nil, false)
		wantDial(t, d, "10.0.0.1:80", 0) // too old to be used without a look
		wantAsked(t, r, 3)
	})
}

func TestStaleAnswerIsUsedWhenTheResolverFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{addrs: addresses("10.0.0.1")}
		d := start(t, r, everywhere())
		wantDial(t, d, "10.0.0.1:80", 0)
		r.set("", errResolver, false)
		time.Sleep(23 * time.Hour)
		for range 3 {
			wantDial(t, d, "10.0.0.1:80", 0)
		}
		wantAsked(t, r, 2) // not once a dial
		time.Sleep(2 * time.Hour)
		if _, _, err := dialTo(t, d); !errors.Is(err, errResolver) {
			t.Errorf("after 25h: got error %v, want the resolver's: the answer is too old", err)
		}
	})
}

// A resolver that hangs delays the dials of the first second, and no others.
func TestHangingResolverCostsPatienceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{addrs: addresses("10.0.0.1")}
		d := start(t, r, everywhere())
		wantDial(t, d, "10.0.0.1:80", 0)
		r.set("", nil, true)
		time.Sleep(2 * time.Minute)
		wantDial(t, d, "10.0.0.1:80", time.Second)
		time.Sleep(10 * time.Second)
		for range 10 {
			wantDial(t, d, "10.0.0.1:80", 0)
			time.Sleep(7 * time.Second)
		}
	})
}

func TestNameWithoutAnAnswerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{err: errResolver}
		d := start(t, r, everywhere())
		if _, _, err := dialTo(t, d); !errors.Is(err, errResolver) {
			t.Errorf("got error %v, want the resolver's", err)
		}
		r.set("", nil, false)
		if _, _, err := dialTo(t, d); err == nil {
			t.Error("no address: got no error")
		}
		r.set("10.0.0.1", nil, false)
		wantDial(t, d, "10.0.0.1:80", 0)
	})
}

func TestDialsShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{hangs: true}
		d := start(t, r, everywhere())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, took, err := dialTo(t, d); err == nil || took != 3*time.Second {
					t.Errorf("got error %v after %v, want one after 3s", err, took)
				}
			})
		}
		wg.Wait()
		wantAsked(t, r, 1)
	})
}

// A host that has moved is found by the dial after the one that failed.
func TestAddressesThatFailAreDoubted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{addrs: addresses("10.0.0.1")}
		n := everywhere()
		d := start(t, r, n)
		wantDial(t, d, "10.0.0.1:80", 0)
		time.Sleep(5 * time.Second)
		n.hosts["10.0.0.1:80"] = host{err: errRefused}
		r.set("10.0.0.2", nil, false)
		if _, _, err := dialTo(t, d); !errors.Is(err, errRefused) {
			t.Fatalf("got error %v, want it refused", err)
		}
		wantDial(t, d, "10.0.0.2:80", 0)
		wantAsked(t, r, 2)
	})
}

func TestDoubtAsksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{addrs: addresses("10.0.0.3")}
		d := start(t, r, &network{hosts: map[string]host{"10.0.0.3:80": {err: errRefused}}})
		for range 100 {
			if _, _, err := dialTo(t, d); !errors.Is(err, errRefused) {
				t.Fatalf("got error %v, want it refused", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := r.count(); n < 5 || n > 11 {
			t.Errorf("the resolver was asked %d times in 10s, want about once a second", n)
		}
	})
}
