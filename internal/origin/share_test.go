package origin

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
)

var greedy, modest = netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")

// askedBy returns a GET on behalf of a client.
func askedBy(who netip.Prefix) *Request {
	r := get("/")
	r.Client = who
	return r
}

// holders is how many clients hold a connection, or wait for one.
func holders(o *Origin) int {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	return o.pool.shares.Len()
}

// TestOneClientLeavesOthersAQuarterOfTheConnections: beyond its share it is refused at
// once, and what it gives back it may have again.
func TestOneClientLeavesOthersAQuarterOfTheConnections(t *testing.T) {
	o := start(t, Options{OriginShare: 0.125, Settings: Settings{MaxConnections: 16, QueueRequests: 10, QueueWait: time.Minute}}, each("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
	var held []*Response
	take := func(who netip.Prefix) error {
		res, err := o.RoundTrip(t.Context(), askedBy(who))
		if err == nil {
			held = append(held, res)
		}
		return err
	}
	for range 13 { // 3 are left then
		if err := take(greedy); err != nil {
			t.Fatal(err)
		}
	}
	err := take(greedy)
	wantKind(t, err, Overload)
	if !errors.Is(err, ErrShare) || waiting(o) != 0 {
		t.Errorf("got %v with %d waiting, want the share, and nobody to wait", err, waiting(o))
	}
	for range 2 { // an eighth
		if err := take(modest); err != nil {
			t.Errorf("another client: %v", err)
		}
	}
	if err := take(modest); !errors.Is(err, ErrShare) {
		t.Errorf("got %v beyond the other's share, want ErrShare", err)
	}
	if err := take(netip.Prefix{}); err != nil {
		t.Errorf("on nobody's behalf: %v", err)
	}
	for _, res := range held {
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := take(greedy); err != nil {
		t.Errorf("once it holds nothing: %v", err)
	}
	_ = held[len(held)-1].Body.Close()
	if n := holders(o); n != 0 {
		t.Errorf("%d clients are held to hold something, want none", n)
	}
}

// TestWhoWaitsHoldsAPlace: one client does not fill the queue for connections that
// another one has.
func TestWhoWaitsHoldsAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{OriginShare: 0.125, Settings: Settings{MaxConnections: 16, QueueRequests: 100, QueueWait: time.Second}}, numbered)
		var held []*Response
		for range 16 {
			res, err := o.RoundTrip(t.Context(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, res)
		}
		errs := make(chan error, 5)
		for range 5 {
			go func() {
				res, err := o.RoundTrip(t.Context(), askedBy(greedy))
				if err == nil {
					_ = res.Body.Close()
				}
				errs <- err
			}()
		}
		synctest.Wait()
		if n := waiting(o); n != 2 {
			t.Errorf("%d wait, want 2, an eighth of 16", n)
		}
		for range 3 {
			if err := <-errs; !errors.Is(err, ErrShare) {
				t.Errorf("got %v, want ErrShare", err)
			}
		}
		time.Sleep(2 * time.Second) // nobody gives any back
		for range 2 {
			wantKind(t, <-errs, Overload)
		}
		if n := holders(o); n != 0 {
			t.Errorf("%d clients are held to hold something, want none", n)
		}
		for _, res := range held {
			_ = res.Body.Close()
		}
	})
}

// TestAShareIsOfTheServersThatAreUp: with one of two out, half of all are all.
func TestAShareIsOfTheServersThatAreUp(t *testing.T) {
	o, err := New(Options{
		Name:        "app",
		Servers:     []Server{{Address: "a:80"}, {Address: "b:80"}},
		OriginShare: 0.25,
		Settings:    Settings{MaxConnections: 8, Health: Health{Unhealthy: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	now := time.Now()
	o.pool.mu.Lock()
	for range 7 {
		o.pool.servers[0].open++
		o.pool.shares.Take(greedy)
	}
	if o.pool.shareSpentLocked(greedy, now) {
		t.Error("7 of 16 are in use, and a client is refused")
	}
	o.pool.balancer.Checked(1, false)
	if state, _ := o.pool.balancer.State(1, now); state != balance.Down {
		t.Errorf("got %v, want a server that is down", state)
	}
	if !o.pool.shareSpentLocked(greedy, now) || o.pool.shareSpentLocked(modest, now) {
		t.Error("7 of 8 are in use: who holds them all may have no more, and others may")
	}
	o.pool.servers[0].open = 0
	o.pool.mu.Unlock()
}

// TestAFailedRequestHoldsNothing, whatever has failed.
func TestAFailedRequestHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{OriginShare: 0.125, Settings: Settings{MaxConnections: 16}}, func(_ int, p *peer) { p.request() })
		for range 5 {
			if _, err := o.RoundTrip(t.Context(), askedBy(greedy)); err == nil {
				t.Error("got an answer of a server that hangs up")
			}
		}
		if n := holders(o); n != 0 {
			t.Errorf("%d clients are held to hold something, want none", n)
		}
	})
}
