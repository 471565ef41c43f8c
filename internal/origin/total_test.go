package origin

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
)

// within is a GET all of which may take this long.
func within(total time.Duration) *Request {
	r := get("/")
	r.Total, r.Begun = total, time.Now()
	return r
}

// wantTotal wants err to say that Total is over, as an error of this kind, that long after begun.
func wantTotal(t *testing.T, name string, err error, kind Kind, begun time.Time, after time.Duration) {
	t.Helper()
	wantKind(t, err, kind)
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrTotal) || !e.Timeout() {
		t.Errorf("%s: got error %v, want %v", name, err, ErrTotal)
	}
	if d := time.Since(begun); d != after {
		t.Errorf("%s: ended after %v, want %v", name, d, after)
	}
}

func TestTotalBoundsEachStepOfAnExchange(t *testing.T) {
	f := func(name string, s script, kind Kind, body string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, _ := startCluster(t, Options{Settings: Settings{ConnectTimeout: time.Minute, FirstByteTimeout: time.Minute, IdleTimeout: time.Minute}}, s)
			begun := time.Now()
			_, got, err := fetch(o, within(5*time.Second))
			wantTotal(t, name, err, kind, begun, 5*time.Second)
			if got != body {
				t.Errorf("%s: got body %q, want %q", name, got, body)
			}
			if openCount(o) != 0 {
				t.Errorf("%s: got %d slots in use, want none", name, openCount(o))
			}
		})
	}
	drip := func(head string) script {
		return func(_ int, p *peer) {
			p.request()
			p.say(head)
			for range 100 {
				time.Sleep(2 * time.Second)
				if _, err := io.WriteString(p, "x"); err != nil {
					return
				}
			}
		}
	}
	f("connect", hangs, Connect, "")
	f("head", func(_ int, p *peer) { p.request(); p.untilClosed() }, Timeout, "")
	f("interim heads", func(_ int, p *peer) {
		p.request()
		time.Sleep(4 * time.Second)
		p.say("HTTP/1.1 102 Processing\r\n\r\n")
		p.untilClosed()
	}, Timeout, "")
	f("body that only drips", drip("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), Timeout, "xx")
	f("body that ends with the connection", drip("HTTP/1.1 200 OK\r\n\r\n"), Timeout, "xx")
}

func TestTotalOfAnUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(_ int, p *peer) { p.untilClosed() })
		body, client := io.Pipe()
		r := post(body, -1)
		r.Total, r.Begun = 5*time.Second, time.Now()
		r.Interrupt = func() { client.CloseWithError(errors.New("interrupted")) }
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), r)
		wantTotal(t, "upload", err, Timeout, begun, 5*time.Second)
	})
}

// A Call is bounded as well, in its first goroutine and in the next one, and its connection is as good as any afterwards.
func TestTotalOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(n int, p *peer) {
			for p.request() != "" {
				if n == 1 {
					p.untilClosed()
				}
				p.say(okWire)
			}
		})
		wantBody(t, o, get("/"), "ok")
		call := o.Start(t.Context(), within(5*time.Second))
		if call == nil || !call.Ready() {
			t.Fatal("want an answer from the connection that is there")
		}
		res, err := call.Finish()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // what has come is there at any time
		if b, err := io.ReadAll(res.Body); string(b) != "ok" || err != nil {
			t.Errorf("got %q and %v", b, err)
		}
		o.pool.servers[0].idle[0].close()
		begun := time.Now()
		call = o.Start(t.Context(), within(5*time.Second))
		if call == nil || call.Ready() {
			t.Fatal("want a Call that has to connect")
		}
		_, err = call.Finish()
		wantTotal(t, "call", err, Timeout, begun, 5*time.Second)
	})
}

// What is spent in the queue and on other servers is not given again, and no other server is tried afterwards.
func TestTotalIsOfTheQueueAndAllTriesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 1, QueueWait: time.Minute}}, func(_ int, p *peer) {
			for p.request() != "" {
				time.Sleep(3 * time.Second)
				p.say(okWire)
			}
		})
		go func() { _, _, _ = fetch(o, get("/")) }()
		synctest.Wait()
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), within(5*time.Second))
		wantTotal(t, "queue, then head", err, Timeout, begun, 5*time.Second)

		go func() { _, _, _ = fetch(o, get("/")) }()
		synctest.Wait()
		begun = time.Now()
		_, err = o.RoundTrip(t.Context(), within(2*time.Second))
		wantTotal(t, "queue", err, Timeout, begun, 2*time.Second)
		time.Sleep(time.Minute)
	})
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{Settings: Settings{ConnectTimeout: 2 * time.Second}}, hangs, hangs, hangs, hangs)
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), within(3*time.Second))
		wantTotal(t, "servers", err, Connect, begun, 3*time.Second)
		wantDialled(t, k, "a b")
	})
}

// TestServerIsNotEjectedForTimeSpentInTheQueue: a server that had most of the time has failed, one that had little has not.
func TestServerIsNotEjectedForTimeSpentInTheQueue(t *testing.T) {
	f := func(name string, spent time.Duration, s script, want balance.State) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, _ := startCluster(t, Options{
				Settings: Settings{ConnectTimeout: time.Minute, Ejection: balance.Ejection{
					Failures: 1, Ratio: 0.1, Window: time.Minute, Requests: 1, Targets: 1, Backoff: time.Minute, MaxBackoff: time.Hour,
				}},
			}, s, answers)
			r := within(5 * time.Second)
			time.Sleep(spent)
			_, err := o.RoundTrip(context.Background(), r)
			if !errors.Is(err, ErrTotal) {
				t.Fatalf("%s: got %v, want %v", name, err, ErrTotal)
			}
			if got := o.Stats(time.Now()).Servers[0].State; got != want {
				t.Errorf("%s after %v: got the server %v, want it %v", name, spent, got, want)
			}
		})
	}
	silent := func(_ int, p *peer) { p.request(); p.untilClosed() }
	f("head", 0, silent, balance.Ejected)
	f("head", 4*time.Second, silent, balance.Up)
	f("connect", 0, hangs, balance.Ejected)
	f("connect", 4*time.Second, hangs, balance.Up)
}

func TestTotalEndsWithASwitchOfProtocols(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			time.Sleep(time.Minute)
			p.say("late")
			p.untilClosed()
		})
		r := within(5 * time.Second)
		r.Upgrade = "x"
		res, err := o.RoundTrip(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Upgraded.Close()
		if b, err := res.Upgraded.Next(); string(b) != "late" || err != nil {
			t.Errorf("got %q and %v, want what comes later", b, err)
		}
	})
}

func TestTotalWantsABeginning(t *testing.T) {
	o := inMemory(t, Options{}, numbered)
	r := get("/")
	r.Total = time.Second
	_, err := o.RoundTrip(t.Context(), r)
	wantKind(t, err, BadRequest)
}
