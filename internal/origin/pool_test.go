package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const okWire = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// numbered answers with the number of the connection.
func numbered(n int, p *peer) {
	each(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n))(n, p)
}

func TestConnectionIsUsedAgain(t *testing.T) {
	o := start(t, Options{}, numbered)
	for range 3 {
		wantBody(t, o, get("/"), "0")
	}
}

func TestConnectionIsNotUsedAgain(t *testing.T) {
	f := func(why, response string) {
		t.Helper()
		o := start(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say(response)
			p.untilClosed()
		})
		if _, _, err := fetch(o, get("/")); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		if n := idleCount(o); n != 0 {
			t.Errorf("%s: got %d idle connections, want none", why, n)
		}
	}
	f("the origin said close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
	f("HTTP/1.0", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
	f("bytes behind the body", okWire+"x")
	f("bytes behind the chunked body", chunkedHead+"0\r\n\r\n\r\n")
	f("a body behind a 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok")
	f("the origin keeps it for one second", "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok")
	f("an interim response with a body", "HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n"+okWire)
}

func TestUnreadBodyIsNotUsedAgain(t *testing.T) {
	o := start(t, Options{}, numbered)
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	wantBody(t, o, get("/"), "1")
}

// A response that nobody asked for must not answer the next request, nor must garbage fail it, whether it may be repeated or not.
func TestStrayResponseIsNeverHandedOut(t *testing.T) {
	f := func(stray string, next *Request) {
		t.Helper()
		read := make(chan struct{})
		o := start(t, Options{}, func(n int, p *peer) {
			p.request()
			p.say(okWire)
			if n == 0 {
				<-read
				p.say(stray)
			}
			p.untilClosed()
		})
		wantBody(t, o, get("/one"), "ok")
		close(read)
		eventually(t, "the stray response is there", func() bool { return idleSpoilt(o) })
		wantBody(t, o, next, "ok")
	}
	for _, stray := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", "x"} {
		f(stray, get("/two"))
		f(stray, post(strings.NewReader("abc"), 3))
		f(stray, post(strings.NewReader("abc"), -1))
	}
}

func TestClosedIdleConnectionIsPassedOver(t *testing.T) {
	o := start(t, Options{}, func(n int, p *peer) {
		p.request()
		p.say(okWire)
		if n > 0 {
			p.untilClosed()
		}
	})
	wantBody(t, o, get("/"), "ok")
	eventually(t, "the end of the connection is there", func() bool { return idleSpoilt(o) })
	// Not even a POST, which is never repeated, notices.
	wantBody(t, o, &Request{Method: "POST", Target: "/", Host: "h"}, "ok")
	if n := openCount(o); n != 1 {
		t.Errorf("got %d slots in use, want 1: that of the dead connection is used again", n)
	}
}

func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	f := func(keep time.Duration, header string, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			closed := make(chan time.Time, 1)
			o := inMemory(t, Options{KeepAlive: keep}, func(_ int, p *peer) {
				p.request()
				p.say("HTTP/1.1 200 OK\r\n" + header + "Content-Length: 2\r\n\r\nok")
				p.untilClosed()
				closed <- time.Now()
			})
			wantBody(t, o, get("/"), "ok")
			begun := time.Now()
			if got := (<-closed).Sub(begun); got != want {
				t.Errorf("KeepAlive %v, %q: closed after %v, want %v", keep, header, got, want)
			}
			if openCount(o) != 0 {
				t.Errorf("got %d slots in use, want none", openCount(o))
			}
		})
	}
	f(time.Minute, "", time.Minute)
	f(0, "", defaultKeepAlive)
	f(time.Minute, "Keep-Alive: timeout=5, max=9\r\n", 4*time.Second)
}

// The timer must serve each connection, whatever the order in which they expire.
func TestEachIdleConnectionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Duration, 3)
		begun := time.Now()
		o := inMemory(t, Options{KeepAlive: time.Minute}, func(n int, p *peer) {
			p.request()
			p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=%d\r\nContent-Length: 2\r\n\r\nok", []int{31, 11, 21}[n]))
			p.untilClosed()
			closed <- time.Since(begun)
		})
		var bodies []*Body
		for range 3 {
			res, err := o.RoundTrip(t.Context(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, res.Body)
		}
		for _, b := range bodies {
			if _, err := io.ReadAll(b); err != nil {
				t.Error(err)
			}
		}
		for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} {
			if got := <-closed; got != want {
				t.Errorf("closed after %v, want %v", got, want)
			}
		}
	})
}

func TestExpiredConnectionIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{KeepAlive: time.Minute}, numbered)
		wantBody(t, o, get("/"), "0")
		time.Sleep(time.Minute - 1)
		wantBody(t, o, get("/"), "0")
		time.Sleep(time.Minute)
		wantBody(t, o, get("/"), "1")
	})
}

func TestCloseEndsIdleConnectionsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, numbered)
		wantBody(t, o, get("/"), "0")
		o.Close()
		synctest.Wait() // the bubble ends only if the connection is closed
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Overload)
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got error %v, want %v", err, ErrClosed)
		}
		o.Close()
	})
}

func TestCloseLetsARequestUnderWayEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 1, QueueWait: time.Hour}}, numbered)
		res, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatal(err)
		}
		queued := make(chan error, 1)
		go func() {
			_, err := o.RoundTrip(t.Context(), get("/"))
			queued <- err
		}()
		synctest.Wait()
		o.Close()
		if err := <-queued; !errors.Is(err, ErrClosed) {
			t.Errorf("in the queue: got error %v, want %v", err, ErrClosed)
		}
		if b, err := io.ReadAll(res.Body); string(b) != "0" || err != nil {
			t.Errorf("under way: got %q and error %v, want its body", b, err)
		}
		if openCount(o) != 0 {
			t.Errorf("got %d slots in use, want none", openCount(o))
		}
	})
}

// Requests, bodies given up and connections cut, all at once: every body must be
// that of its request, and no slot may be lost. Run with -race.
func TestManyAtOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	o := start(t, Options{Metrics: NewMetrics(registry), Settings: Settings{MaxConnections: 4, QueueRequests: 100, QueueWait: time.Minute}}, func(n int, p *peer) {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		for {
			target := strings.Split(p.request()+" ", " ")
			if len(target) < 2 || target[1] == "" {
				return
			}
			p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(target[1]), target[1]))
			if random.IntN(10) == 0 {
				return
			}
		}
	})
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(worker)))
			for i := range 50 {
				target := fmt.Sprintf("/%d/%d", worker, i)
				res, err := o.RoundTrip(context.Background(), get(target))
				if err != nil {
					continue // cut twice
				}
				if random.IntN(10) == 0 {
					res.Body.Close()
					continue
				}
				if b, err := io.ReadAll(res.Body); string(b) != target || err != nil {
					t.Errorf("%s: got %q and error %v", target, b, err)
				}
			}
		})
	}
	wg.Wait()
	idle := idleCount(o)
	if openCount(o) != idle || o.pool.waiters.Len() != 0 || idle > 4 {
		t.Errorf("got %d slots in use and %d waiters with %d idle connections, want none but these", openCount(o), o.pool.waiters.Len(), idle)
	}
	o.Close()
	for _, state := range []string{"idle", "active"} {
		if got := sample(t, registry, "edgeproxy_origin_connections", "app", state); got != 0 {
			t.Errorf("got %v %s connections after Close, want none", got, state)
		}
	}
	if got := sample(t, registry, "edgeproxy_origin_queue_requests", "app"); got != 0 {
		t.Errorf("got %v requests in the queue, want none", got)
	}
}
