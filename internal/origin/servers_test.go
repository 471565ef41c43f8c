package origin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
)

// cluster is servers in memory, for virtual time. A server without a script
// refuses connections; one whose script is hangs never answers a dial.
type cluster struct {
	mu      sync.Mutex
	scripts map[string]script
	dials   []string
	playing sync.WaitGroup
}

var (
	errRefused = errors.New("refused")
	hangs      = script(func(int, *peer) {})
	answers    = each(okWire)
)

func (k *cluster) dial(ctx context.Context, _, address string) (net.Conn, error) {
	k.mu.Lock()
	s := k.scripts[address]
	n := len(k.dials)
	k.dials = append(k.dials, address)
	k.mu.Unlock()
	switch {
	case s == nil:
		return nil, errRefused
	case fmt.Sprintf("%p", s) == fmt.Sprintf("%p", hangs):
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ours, theirs := net.Pipe()
	k.playing.Go(func() {
		defer theirs.Close()
		s(n, &peer{Conn: theirs, br: bufio.NewReader(theirs)})
	})
	return ours, nil
}

// set replaces what a server does with connections to come.
func (k *cluster) set(address string, s script) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.scripts[address] = s
}

// dialled returns the addresses dialled since the last call, as one text.
func (k *cluster) dialled() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := strings.Join(k.dials, " ")
	k.dials = nil
	return strings.ReplaceAll(s, ":80", "")
}

// startCluster returns an Origin of the servers a:80, b:80 and so on.
func startCluster(tb testing.TB, o Options, scripts ...script) (*Origin, *cluster) {
	tb.Helper()
	return startClusterOf(tb, o, len(scripts), scripts...)
}

// startClusterOf is startCluster where the servers from this number on are backups.
func startClusterOf(tb testing.TB, o Options, backups int, scripts ...script) (*Origin, *cluster) {
	tb.Helper()
	k := &cluster{scripts: map[string]script{}}
	tb.Cleanup(k.playing.Wait)
	for i, s := range scripts {
		address := string(rune('a'+i)) + ":80"
		k.scripts[address] = s
		o.Servers = append(o.Servers, Server{Address: address, Backup: i >= backups})
	}
	o.Dial, o.ReuseAfterPost = k.dial, true
	if o.Name == "" {
		o.Name = "app"
	}
	origin, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(origin.Close)
	return origin, k
}

func wantDialled(t *testing.T, k *cluster, want string) {
	t.Helper()
	if got := k.dialled(); got != want {
		t.Errorf("dialled %q, want %q", got, want)
	}
}

// once answers one request on each connection.
func once(_ int, p *peer) {
	p.request()
	p.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
	p.untilClosed()
}

func TestServersGetRequestsByWeight(t *testing.T) {
	seen := make(chan string, 100)
	var servers []Server
	for i, weight := range []int{0, 2} { // 0 is the default, 1
		name := string(rune('a' + i))
		address := loopback(t, func(_ int, p *peer) {
			for r := p.request(); r != ""; r = p.request() {
				_, host, _ := strings.Cut(r, "Host: ")
				host, _, _ = strings.Cut(host, "\r\n")
				seen <- name + "=" + host
				p.say(okWire)
			}
		})
		servers = append(servers, Server{Address: address, Weight: weight, Host: map[string]string{"b": "b.test"}[name]})
	}
	o, err := New(Options{Name: "app", Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for range 30 {
		wantBody(t, o, get("/"), "ok")
	}
	counts := map[string]int{}
	for range 30 {
		counts[<-seen]++
	}
	if counts["a=origin.test"] != 10 || counts["b=b.test"] != 20 {
		t.Errorf("got %v, want 10 for a, with the request's Host, and 20 for b, with its own", counts)
	}
}

// Nothing was sent, so any request may go to the next server.
func TestNextServerWhenNoConnectionCanBeMade(t *testing.T) {
	f := func(r *Request) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, Options{}, nil, answers)
			wantBody(t, o, r, "ok")
			wantDialled(t, k, "a b")
			if n := openCount(o); n != 1 {
				t.Errorf("got %d slots, want that of the one connection", n)
			}
		})
	}
	f(get("/"))
	f(&Request{Method: "POST", Target: "/", Host: "h"})
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader(""), ContentLength: 0})
}

func TestNextServerAfterAConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{Settings: Settings{ConnectTimeout: 3 * time.Second}}, hangs, answers)
		begun := time.Now()
		wantBody(t, o, get("/"), "ok")
		wantDialled(t, k, "a b")
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("took %v, want one connect timeout", d)
		}
	})
}

// A request that one server may have had is not for another.
func TestNoNextServerOnceSomethingWasSent(t *testing.T) {
	for name, s := range map[string]struct {
		script script
		want   Kind
	}{
		"cut":     {func(_ int, p *peer) { p.request() }, Cut},
		"silence": {func(_ int, p *peer) { p.request(); p.untilClosed() }, Timeout},
		"rubbish": {each("rubbish\r\n\r\n"), Malformed},
	} {
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, Options{}, s.script, answers)
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, s.want)
			if got := k.dialled(); got != "a" {
				t.Errorf("%s: dialled %q, want only a", name, got)
			}
		})
	}
}

func TestTriesHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{}, nil, nil, nil, nil, nil)
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		wantDialled(t, k, "a b c")
		if openCount(o) != 0 {
			t.Errorf("got %d slots in use, want none", openCount(o))
		}
	})
}

// The connection that was given up goes to the same server once more, and on to
// the next if that is gone altogether.
func TestAbandonedConnectionOfADeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say(okWire)
			p.request()
		}, answers)
		wantBody(t, o, get("/"), "ok")
		wantBody(t, o, get("/"), "ok")
		k.set("a:80", nil)
		wantBody(t, o, get("/"), "ok")
		wantDialled(t, k, "a b a")
	})
}

func TestLimitIsOfEachServerAndTheQueueOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
		on := func(name string) script {
			return func(_ int, p *peer) {
				for p.request() != "" {
					<-release[name]
					p.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + name)
				}
			}
		}
		o, _ := startCluster(t, Options{Settings: Settings{MaxConnections: 2, QueueRequests: 2, QueueWait: time.Minute}}, on("a"), on("b"))
		got := make(chan string, 10)
		ask := func() {
			_, body, err := fetch(o, get("/"))
			if err != nil {
				body = err.Error()
			}
			got <- body
		}
		for range 6 {
			go ask()
			synctest.Wait()
		}
		if s := o.Stats(time.Now()); s.Waiting != 2 || s.Servers[0].Active != 2 || s.Servers[1].Active != 2 {
			t.Errorf("got %+v, want two connections of each server and two requests that wait", s)
		}
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Overload)
		// Both who wait go to b, where places become free.
		for range 4 {
			release["b"] <- struct{}{}
			if s := <-got; s != "b" {
				t.Errorf("got %q, want b", s)
			}
		}
		release["a"] <- struct{}{}
		release["a"] <- struct{}{}
		if first, second := <-got, <-got; first != "a" || second != "a" {
			t.Errorf("got %q and %q, want a", first, second)
		}
	})
}

// A server that drains says so to the health checks. That the other one could not be
// connected to for once sends it no request.
func TestDownServerIsNotTheNextOneWhileAnotherIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		o, k := startCluster(t, Options{Settings: Settings{Health: Health{Path: "/health", Interval: time.Hour, Unhealthy: 1}}}, once, func(_ int, p *peer) {
			for r := p.request(); r != ""; r = p.request() {
				if strings.HasPrefix(r, "GET /health ") {
					p.say("HTTP/1.1 503 Draining\r\nContent-Length: 0\r\n\r\n")
					continue
				}
				asked.Add(1)
				p.say(okWire)
			}
		})
		time.Sleep(time.Second) // virtual: the first checks
		k.set("a:80", nil)
		for range 3 {
			_, _, err := fetch(o, &Request{Method: "POST", Target: "/", Host: "h"})
			wantKind(t, err, Connect)
		}
		if n := asked.Load(); n != 0 {
			t.Errorf("got %d requests for the server that is down, want none while a is up", n)
		}
	})
}

func ejecting(refuse bool) balance.Ejection {
	return balance.Ejection{Failures: 3, Backoff: 10 * time.Second, MaxBackoff: time.Minute, Refuse: refuse}
}

func TestServerThatFailsIsEjectedAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []string
		o, k := startCluster(t, Options{
			OnChange: func(c Change) {
				changes = append(changes, fmt.Sprint(c.Server, " ", c.State, " ", errors.Is(c.Err, errRefused)))
			},
			Settings: Settings{Ejection: ejecting(false)},
		}, nil, once)
		for range 6 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "a b b a b b a b b") // a's turn comes every other time
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "b b b b")
		if s := o.Stats(time.Now()).Servers[0]; s.State != balance.Ejected || s.EjectedFor != 10*time.Second {
			t.Errorf("got %+v, want it ejected for 10s", s)
		}

		time.Sleep(10 * time.Second)
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := strings.Count(k.dialled(), "a"); got != 1 {
			t.Errorf("got %d trials, want 1", got)
		}
		time.Sleep(20 * time.Second)
		k.set("a:80", once)
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := strings.Count(k.dialled(), "a"); got < 2 {
			t.Errorf("got %d requests after a trial that succeeded, want more", got)
		}
		if got := strings.Join(changes, ", "); got != "a:80 ejected true, a:80 up false" {
			t.Errorf("told %s", got)
		}
	})
}

// A GET that is repeated on a server is one request to it: it counts once, and what
// came of the repeat is what counts.
func TestRepeatIsNoSecondFailure(t *testing.T) {
	f := func(dialled string, servers, failures int, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, Options{
				Settings: Settings{Ejection: balance.Ejection{Failures: failures, Backoff: 10 * time.Second, MaxBackoff: time.Hour}},
			}, make([]script, servers)...)
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Connect)
			wantDialled(t, k, dialled)
			for _, s := range o.Stats(time.Now()).Servers {
				if s.EjectedFor != want {
					t.Errorf("%s of %d: ejected for %v after one failure of %d, want %v", s.Address, servers, s.EjectedFor, failures, want)
				}
			}
		})
	}
	f("a a", 1, 1, 10*time.Second)
	f("a a", 1, 2, 0)
	f("a b b", 2, 1, 10*time.Second)
	f("a b b", 2, 2, 0)
}

func TestTrialThatIsRepeatedDoublesTheBackoffOnce(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, Options{
				Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: 10 * time.Second, MaxBackoff: time.Hour, Refuse: refuse}},
			}, nil)
			for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
				_, err := o.RoundTrip(t.Context(), get("/"))
				wantKind(t, err, Connect)
				wantDialled(t, k, "a a")
				if got := o.Stats(time.Now()).Servers[0].EjectedFor; got != want {
					t.Errorf("refuse %v: ejected for %v, want %v", refuse, got, want)
				}
				time.Sleep(want)
			}
		})
	}
}

func TestRepeatThatSucceedsIsASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		played := pipes(t, answers)
		o := open(t, Options{
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials++; dials == 1 {
					return nil, errRefused
				}
				return played(ctx, network, address)
			},
			Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: time.Minute, MaxBackoff: time.Hour, Refuse: true}},
		})
		wantBody(t, o, get("/"), "ok")
		if s := o.Stats(time.Now()).Servers[0]; s.State != balance.Up {
			t.Errorf("the server has just answered: got it %v for %v", s.State, s.EjectedFor)
		}
		wantBody(t, o, get("/"), "ok")
	})
}

// Three requests in a row eject a server that refuses; what else goes wrong takes more,
// see breaks_test.go. One that says 500 works.
func TestWhatCountsAsAFailure(t *testing.T) {
	f := func(name string, s script, want balance.State) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, _ := startCluster(t, Options{Settings: Settings{Ejection: ejecting(false)}}, s)
			for range 3 {
				res, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: "/", Host: "h"})
				if err == nil {
					res.Body.Close()
				}
			}
			if got := o.Stats(time.Now()).Servers[0].State; got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		})
	}
	f("refused", nil, balance.Ejected)
	f("connect timeout", hangs, balance.Ejected)
	f("silence", func(_ int, p *peer) { p.untilClosed() }, balance.Up)
	f("cut", func(_ int, p *peer) { p.request() }, balance.Up)
	f("rubbish", each("rubbish\r\n\r\n"), balance.Up)
	f("500", each("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), balance.Up)
}

func TestClientThatLeavesIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startCluster(t, Options{Settings: Settings{Ejection: ejecting(false)}}, func(_ int, p *peer) { p.untilClosed() })
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := o.RoundTrip(ctx, get("/"))
			cancel()
			wantKind(t, err, Canceled)
		}
		if got := o.Stats(time.Now()).Servers[0].State; got != balance.Up {
			t.Errorf("got %v, want up", got)
		}
	})
}

func TestAllEjectedAreTriedAnyway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{Settings: Settings{Ejection: ejecting(false)}}, nil, nil)
		for range 4 {
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Connect)
		}
		k.set("b:80", answers)
		wantBody(t, o, get("/"), "ok")
	})
}

// With Refuse the last servers get a single trial at a time, also an only one: who
// asks meanwhile is refused at once.
func TestRefusingIsACircuitBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{Settings: Settings{Ejection: ejecting(true), FirstByteTimeout: 5 * time.Second}}, hangs)
		for range 3 {
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Connect)
		}
		k.dialled()
		begun := time.Now()
		for range 10 {
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Overload)
			if !errors.Is(err, ErrAllOut) {
				t.Errorf("got error %v, want %v", err, ErrAllOut)
			}
		}
		wantDialled(t, k, "")
		if d := time.Since(begun); d != 0 {
			t.Errorf("refusing took %v", d)
		}
		time.Sleep(10 * time.Second)
		k.set("a:80", answers)
		wantBody(t, o, get("/"), "ok")
		wantBody(t, o, get("/"), "ok")
	})
}

func TestRefusingDismissesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startCluster(t, Options{
			Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: time.Minute, MaxBackoff: time.Minute, Refuse: true}, MaxConnections: 1, QueueRequests: 5, QueueWait: time.Hour},
		}, hangs)
		ended := make(chan error, 4)
		for range 4 {
			go func() {
				_, err := o.RoundTrip(t.Context(), get("/"))
				ended <- err
			}()
		}
		begun, refused := time.Now(), 0
		for range 4 {
			if errors.Is(<-ended, ErrAllOut) {
				refused++
			}
		}
		if d := time.Since(begun); d != 3*time.Second || refused != 3 || waiting(o) != 0 || openCount(o) != 0 {
			t.Errorf("after %v: got %d refused, %d who wait and %d slots, want three gone when the first failed", d, refused, waiting(o), openCount(o))
		}
	})
}

// The last in the queue is refused as who comes is when the trial fails that the first
// one was.
func TestRefusingDismissesWhoWaitsForATrialThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startCluster(t, Options{
			Settings: Settings{Ejection: balance.Ejection{
				Failures: 1, Ratio: 1, Window: time.Minute, Requests: 1, Targets: 1, Backoff: time.Second, MaxBackoff: time.Minute, Refuse: true,
			}, MaxConnections: 1, QueueRequests: 5, QueueWait: time.Hour, FirstByteTimeout: 10 * time.Second},
		}, func(_ int, p *peer) {
			p.request()
			p.untilClosed()
		}, nil)
		ended := make(chan error, 4)
		ask := func() {
			_, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: "/", Host: "h"})
			ended <- err
		}
		for range 4 {
			go ask() // to a, which is silent for 10s; to b, which is ejected for 1s; and into the queue
			synctest.Wait()
		}
		time.Sleep(10 * time.Second) // a is ejected, and the first in the queue is b's trial
		synctest.Wait()
		if waiting(o) != 0 || len(ended) != 4 {
			t.Errorf("both are out: got %d who wait and %d who were told, want none and all four", waiting(o), len(ended))
		}
	})
}

// A server whose ejection has ended without a word serves the queue when the next
// request comes, and in order.
func TestQueueSeesAnEjectionEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ int, p *peer) {
			p.request()
			p.untilClosed()
		}
		o, k := startCluster(t, Options{
			Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: 2 * time.Second, MaxBackoff: time.Minute}, MaxConnections: 1, QueueRequests: 5, QueueWait: 10 * time.Second, FirstByteTimeout: time.Minute},
		}, nil, slow)
		ask := func(done chan<- error) {
			_, _, err := fetch(o, get("/"))
			done <- err
		}
		occupied, waits := make(chan error, 1), make(chan error, 1)
		go ask(occupied) // a refuses, and b does not answer
		synctest.Wait()
		k.set("a:80", answers)
		go ask(waits)
		synctest.Wait()
		if waiting(o) != 1 {
			t.Fatalf("got %d who wait, want 1", waiting(o))
		}
		time.Sleep(3 * time.Second)
		wantBody(t, o, get("/"), "ok")
		if err := <-waits; err != nil {
			t.Errorf("who waited: %v", err)
		}
		o.Close()
		wantKind(t, <-occupied, Timeout)
	})
}

func TestServersWithEverythingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moody := func(n int, p *peer) {
			for i := 0; p.request() != ""; i++ {
				time.Sleep(time.Duration((n+i)%5) * 100 * time.Millisecond)
				if (n+i)%7 == 0 {
					return
				}
				p.say(okWire)
			}
		}
		o, k := startCluster(t, Options{
			Settings: Settings{Ejection: ejecting(true), Balance: balance.LeastConnections, MaxConnections: 3, QueueRequests: 20, QueueWait: time.Second},
		}, moody, moody, nil, hangs)
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				time.Sleep(time.Duration(i*13%2000) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%5)*time.Second)
				defer cancel()
				res, err := o.RoundTrip(ctx, get("/"))
				if err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
		}
		wg.Wait()
		for _, s := range o.Stats(time.Now()).Servers {
			if s.Active != 0 || s.Idle > 3 {
				t.Errorf("%s: got %d connections in use and %d idle, want 0 and at most 3", s.Address, s.Active, s.Idle)
			}
		}
		if waiting(o) != 0 || len(k.dialled()) == 0 {
			t.Errorf("got %d who wait", waiting(o))
		}
	})
}
