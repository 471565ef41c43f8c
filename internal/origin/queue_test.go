package origin

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// occupied returns an Origin whose only connection is in use by the response.
func occupied(t *testing.T, o Options) (*Origin, *Response) {
	t.Helper()
	o.MaxConnections = 1
	origin := inMemory(t, o, numbered)
	res, err := origin.RoundTrip(t.Context(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return origin, res
}

func TestFullQueueIsAnOverloadAtOnce(t *testing.T) {
	f := func(places int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, _ := occupied(t, Options{Settings: Settings{QueueRequests: places, QueueWait: time.Minute}})
			ctx, cancel := context.WithCancel(t.Context())
			for range places {
				go func() { _, _ = o.RoundTrip(ctx, get("/")) }()
			}
			synctest.Wait()
			begun := time.Now()
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Overload)
			if d := time.Since(begun); d != 0 {
				t.Errorf("queue of %d: refused after %v, want at once", places, d)
			}
			cancel()
			synctest.Wait()
			if n := waiting(o); n != 0 {
				t.Errorf("queue of %d: got %d waiting after cancel, want none", places, n)
			}
		})
	}
	f(0)
	f(1)
	f(3)
}

func TestQueueWaitHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, res := occupied(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: 3 * time.Second}})
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Overload)
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("refused after %v, want 3s", d)
		}
		// The place is free again, and the connection too.
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		wantBody(t, o, get("/"), "0")
	})
}

func TestQueueIsLeftWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		o, _ := occupied(t, Options{Metrics: NewMetrics(registry), Settings: Settings{QueueRequests: 1, QueueWait: time.Hour}})
		cause := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := o.RoundTrip(ctx, get("/"))
			failed <- err
		}()
		synctest.Wait()
		if got := sample(t, registry, "edgeproxy_origin_queue_requests", "app"); got != 1 {
			t.Errorf("got %v requests in the queue, want 1", got)
		}
		begun := time.Now()
		cancel(cause)
		err := <-failed
		wantKind(t, err, Canceled)
		if !errors.Is(err, cause) || time.Since(begun) != 0 {
			t.Errorf("got error %v after %v, want %v at once", err, time.Since(begun), cause)
		}
		if got := sample(t, registry, "edgeproxy_origin_queue_requests", "app"); got != 0 {
			t.Errorf("got %v requests in the queue, want none", got)
		}
	})
}

// Waiters are served in the order in which they came, by the connection that was
// released.
func TestQueueIsServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, res := occupied(t, Options{Settings: Settings{QueueRequests: 3, QueueWait: time.Hour}})
		served := make(chan int, 3)
		for i := range 3 {
			go func() {
				res, err := o.RoundTrip(t.Context(), get("/"))
				if err != nil {
					t.Error(err)
					return
				}
				served <- i
				if b, err := io.ReadAll(res.Body); string(b) != "0" || err != nil {
					t.Errorf("waiter %d: got connection %s and error %v, want 0", i, b, err)
				}
			}()
			synctest.Wait() // each joins the queue behind the one before
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		for want := range 3 {
			if got := <-served; got != want {
				t.Errorf("waiter %d was served as number %d", got, want)
			}
		}
	})
}

// A slot that comes free without a connection lets the next waiter dial.
func TestClosedConnectionHandsItsSlotOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, res := occupied(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: time.Hour}})
		got := make(chan string, 1)
		go func() {
			_, body, err := fetch(o, get("/"))
			if err != nil {
				t.Error(err)
			}
			got <- body
		}()
		synctest.Wait()
		res.Body.Close()
		if body := <-got; body != "1" {
			t.Errorf("got connection %s, want a fresh one", body)
		}
		if openCount(o) != 1 {
			t.Errorf("got %d slots in use, want 1", openCount(o))
		}
	})
}

func TestFailedDialHandsItsSlotOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := make(chan error)
		o := open(t, Options{Dial: failing(dials), Settings: Settings{MaxConnections: 1, QueueRequests: 1, QueueWait: time.Hour}})
		failed := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: "/", Host: "h"})
				failed <- err
			}()
		}
		for range 2 {
			dials <- errors.New("refused")
			wantKind(t, <-failed, Connect)
		}
		if openCount(o) != 0 {
			t.Errorf("got %d slots in use, want none", openCount(o))
		}
	})
}

// A grant and the end of the wait at the same moment: the slot is neither lost
// nor given twice.
func TestGrantThatComesTooLateIsHandedBack(t *testing.T) {
	f := func(name string, dead bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, res := occupied(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: time.Hour}})
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				res, err := o.RoundTrip(ctx, get("/"))
				if err == nil {
					res.Body.Close()
				}
				failed <- err
			}()
			synctest.Wait()
			cancel()
			if dead {
				res.Body.Close()
			} else if _, err := io.ReadAll(res.Body); err != nil {
				t.Error(err)
			}
			wantKind(t, <-failed, Canceled)
			synctest.Wait()
			if n := idleCount(o); openCount(o) != n || waiting(o) != 0 {
				t.Errorf("%s: got %d slots in use with %d idle connections, want only these", name, openCount(o), n)
			}
		})
	}
	for range 50 { // who wins is the scheduler's choice; each way must be right
		f("live connection", false)
		f("free slot", true)
	}
}
