package origin

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// beside returns an Origin of a, which refuses connections, and b, whose only one is in
// use until release gets something.
func beside(t *testing.T, o Options) (origin *Origin, k *cluster, release chan<- struct{}) {
	t.Helper()
	gate := make(chan struct{})
	o.MaxConnections = 1
	origin, k = startCluster(t, o, nil, func(_ int, p *peer) {
		for p.request() != "" {
			if _, open := <-gate; !open {
				return
			}
			p.say(okWire)
		}
	})
	go func() { _, _, _ = fetch(origin, get("/")) }()
	time.Sleep(time.Second) // virtual: an ejection of a that lasts no longer is over
	wantDialled(t, k, "a b")
	return origin, k, gate
}

// sent sends a POST, and returns where its error will be.
func sent(ctx context.Context, o *Origin) <-chan error {
	ended := make(chan error, 1)
	go func() {
		res, err := o.RoundTrip(ctx, &Request{Method: "POST", Target: "/", Host: "h"})
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// wantRest wants nobody in the queue, and no slots but those given.
func wantRest(t *testing.T, o *Origin, slots int) {
	t.Helper()
	synctest.Wait()
	if waiting(o) != 0 || openCount(o) != slots {
		t.Errorf("got %d who wait and %d slots, want none and %d", waiting(o), openCount(o), slots)
	}
}

// A server that is dead sent the client away with its error, although the other one
// was well and the queue had room.
func TestFullServerBesideADeadOneIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, release := beside(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: time.Minute, FirstByteTimeout: time.Hour}})
		defer close(release)
		ended := sent(t.Context(), o)
		if waiting(o) != 1 || openCount(o) != 1 {
			t.Errorf("got %d who wait and %d slots, want one and that of b", waiting(o), openCount(o))
		}
		wantKind(t, <-sent(t.Context(), o), Connect) // the queue has no more room
		wantDialled(t, k, "a a")
		release <- struct{}{}
		release <- struct{}{}
		if err := <-ended; err != nil {
			t.Errorf("got error %v, want what b says", err)
		}
		wantRest(t, o, 0)
	})
}

func TestNoQueueBesideADeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, release := beside(t, Options{Settings: Settings{FirstByteTimeout: time.Hour}})
		defer close(release)
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		wantDialled(t, k, "a a")
		wantRest(t, o, 1)
	})
}

// A request that waits for b keeps none from a. Of the requests that wait for b, the first to
// come is the first to be served, also before one that has not tried a.
func TestWaitingForOneServerHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, release := beside(t, Options{Settings: Settings{QueueRequests: 5, QueueWait: time.Hour, FirstByteTimeout: time.Hour}})
		first := sent(t.Context(), o)
		second := sent(t.Context(), o)
		wantDialled(t, k, "a a")
		hold := make(chan struct{})
		k.set("a:80", func(_ int, p *peer) {
			for p.request() != "" {
				<-hold
				p.say(okWire)
			}
		})
		third := sent(t.Context(), o) // has a
		last := sent(t.Context(), o)  // waits for either
		wantDialled(t, k, "a")
		if waiting(o) != 3 {
			t.Errorf("got %d who wait, want three", waiting(o))
		}
		hold <- struct{}{}
		hold <- struct{}{}
		if e, f := <-third, <-last; e != nil || f != nil {
			t.Errorf("on a: got errors %v and %v, want none", e, f)
		}
		release <- struct{}{} // the request that had b at the beginning
		release <- struct{}{}
		synctest.Wait()
		if len(first) != 1 || len(second) != 0 {
			t.Errorf("b is free once: got %d of the first and %d of the second, want the first", len(first), len(second))
		}
		release <- struct{}{}
		if e, f := <-first, <-second; e != nil || f != nil {
			t.Errorf("on b: got errors %v and %v, want none", e, f)
		}
		close(release)
		close(hold)
		o.Close()
		wantRest(t, o, 0)
	})
}

// A request that had a slot already came before all that wait.
func TestWhoHasTriedAServerComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k, release := beside(t, Options{Settings: Settings{QueueRequests: 5, QueueWait: time.Hour, FirstByteTimeout: time.Hour, ConnectTimeout: 3 * time.Second}})
		k.set("a:80", hangs)
		first := sent(t.Context(), o)  // dials a
		second := sent(t.Context(), o) // will have a, after it
		third := sent(t.Context(), o)
		time.Sleep(4 * time.Second)
		release <- struct{}{} // the request that had b at the beginning
		release <- struct{}{}
		synctest.Wait()
		if len(first) != 1 || len(second) != 0 || len(third) != 0 {
			t.Errorf("b is free once: got it for %d, %d, %d, want it for the first to come", len(first), len(second), len(third))
		}
		release <- struct{}{} // the third
		release <- struct{}{} // the second, when a has failed it, too
		if e, f := <-second, <-third; e != nil || f != nil {
			t.Errorf("got errors %v and %v, want none", e, f)
		}
		close(release)
		o.Close()
		wantRest(t, o, 0)
	})
}

// The ways out of the queue for who has tried a server; none keeps a place or a slot.
func TestWaitingBesideADeadServerEnds(t *testing.T) {
	f := func(name string, o Options, end func(*Origin, context.CancelFunc), after time.Duration, want Kind) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o.QueueRequests, o.QueueWait = 1, time.Minute
			origin, _, release := beside(t, o)
			defer close(release)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := time.Now()
			ended := sent(ctx, origin)
			end(origin, cancel)
			wantKind(t, <-ended, want)
			if d := time.Since(begun); d != after {
				t.Errorf("%s: ended after %v, want %v", name, d, after)
			}
			synctest.Wait()
			if waiting(origin) != 0 || openCount(origin) > 1 {
				t.Errorf("%s: got %d who wait and %d slots, want none and that of b at most", name, waiting(origin), openCount(origin))
			}
		})
	}
	nothing := func(*Origin, context.CancelFunc) {}
	slow := Options{Settings: Settings{FirstByteTimeout: time.Hour}}
	f("its time is over", slow, nothing, time.Minute, Overload)
	f("the client leaves", slow, func(_ *Origin, cancel context.CancelFunc) { cancel() }, 0, Canceled)
	f("close", slow, func(o *Origin, _ context.CancelFunc) { o.Close() }, 0, Overload)
	f("b is ejected", Options{
		Settings: Settings{FirstByteTimeout: 20 * time.Second, Ejection: balance.Ejection{Failures: 1, Ratio: 1, Window: time.Minute, Requests: 1, Targets: 1, Backoff: time.Second, MaxBackoff: time.Minute}},
	}, nothing, 19*time.Second, Connect)
}

// Servers that die, hang and come back, clients that leave, and a close at any time:
// no slot, no place in the queue and no gauge is left over by any way out.
func TestEveryWayOutLeavesNothing(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			moody := func(n int, p *peer) {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				for p.request() != "" {
					time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
					if r.IntN(7) == 0 {
						return
					}
					p.say(okWire)
				}
			}
			o, k := startCluster(t, Options{
				Metrics:  NewMetrics(registry),
				Settings: Settings{Ejection: balance.Ejection{Failures: 2, Backoff: 200 * time.Millisecond, MaxBackoff: time.Second, Refuse: seed%2 == 0}, Health: Health{Path: "/", Interval: 300 * time.Millisecond, Timeout: 150 * time.Millisecond}, Balance: balance.Policy(seed / 2 % 2), FirstByteTimeout: time.Second, MaxConnections: 2, QueueRequests: 10, QueueWait: 700 * time.Millisecond, ConnectTimeout: time.Second},
			}, moody, moody, nil)
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := range 10 {
					time.Sleep(200 * time.Millisecond)
					k.set([]string{"a:80", "b:80", "c:80"}[i%3], []script{nil, moody, hangs}[(i+int(seed))%3])
				}
			})
			for i := range 120 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					time.Sleep(time.Duration(r.IntN(2500)) * time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(1500))*time.Millisecond)
					defer cancel()
					res, err := o.RoundTrip(ctx, &Request{Method: []string{"GET", "POST"}[i%2], Target: "/", Host: "h"})
					if err != nil {
						return
					}
					if r.IntN(4) > 0 {
						_, _ = io.Copy(io.Discard, res.Body)
					}
					_ = res.Body.Close()
				})
			}
			time.Sleep(time.Duration(seed%4) * time.Second)
			if seed%4 > 0 {
				o.Close()
			}
			wg.Wait()
			o.Close()
			if openCount(o) != 0 || waiting(o) != 0 {
				t.Errorf("seed %d: got %d slots and %d who wait, want none", seed, openCount(o), waiting(o))
			}
			for _, state := range []string{"idle", "active", "upgraded"} {
				if got := sample(t, registry, "edgeproxy_origin_connections", "app", state); got != 0 {
					t.Errorf("seed %d: got %v connections %s, want none", seed, got, state)
				}
			}
			if got := sample(t, registry, "edgeproxy_origin_queue_requests", "app"); got != 0 {
				t.Errorf("seed %d: got %v in the queue, want none", seed, got)
			}
		})
	}
}
