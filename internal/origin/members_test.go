package origin

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// name is a Server that is followed, by the test.
type name struct {
	set     func([]Member, error)
	stopped int
}

func (n *name) follow(set func([]Member, error)) (stop func()) {
	n.set = set
	return func() { n.stopped++ }
}

// has says that the name stands for these addresses, of weight 1.
func (n *name) has(addresses ...string) {
	var out []Member
	for _, a := range addresses {
		out = append(out, Member{Address: a + ":80", Name: "app.test:80 (" + a + ")", Weight: 1})
	}
	n.set(out, nil)
}

// startNamed returns an Origin of one name, and its servers.
func startNamed(t *testing.T, o Options) (*Origin, *name, *cluster) {
	t.Helper()
	n, k := &name{}, &cluster{scripts: map[string]script{}}
	t.Cleanup(k.playing.Wait)
	o.Dial, o.ReuseAfterPost = k.dial, true
	o.Servers = append(o.Servers, Server{Address: "app.test:80", Follow: n.follow})
	o.Name = "app"
	origin, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(origin.Close)
	return origin, n, k
}

// states returns the servers of o and their states, as one text.
func states(o *Origin) string {
	var out []string
	for _, s := range o.Stats(time.Now()).Servers {
		out = append(out, fmt.Sprintf("%s %v", s.Address, s.State))
	}
	return strings.Join(out, ", ")
}

func wantStates(t *testing.T, o *Origin, want string) {
	t.Helper()
	if got := states(o); got != want {
		t.Errorf("got the servers %s, want %s", got, want)
	}
}

func TestEachAddressOfANameIsAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Settings: Settings{Ejection: ejecting(false)}})
		k.set("a:80", once)
		k.set("b:80", nil)
		k.set("c:80", once)
		n.has("a", "b")
		for range 8 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := k.dialled(); strings.Count(got, "b") != 3 {
			t.Errorf("dialled %q, want b three times, until it is ejected", got)
		}
		wantStates(t, o, "app.test:80 (a) up, app.test:80 (b) ejected")
		n.has("b", "c") // what is known of b stays
		wantStates(t, o, "app.test:80 (b) ejected, app.test:80 (c) up")
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "c c c")
		time.Sleep(10 * time.Second)
		k.set("b:80", once)
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := k.dialled(); strings.Count(got, "b") != 2 {
			t.Errorf("dialled %q, want b again", got)
		}
		o.Close()
		n.has("a") // too late
		if n.stopped == 0 {
			t.Error("the name is still followed")
		}
	})
}

// An address that leaves gets no new request. Its idle connections end, and a request that runs there is answered.
func TestAnAddressThatLeavesEndsItsRequestsInPeace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{})
		goOn := make(chan bool)
		k.set("a:80", func(_ int, p *peer) {
			for head := p.request(); head != ""; head = p.request() {
				if strings.HasPrefix(head, "GET /slow") {
					p.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl")
					<-goOn
					p.say("ow")
					continue
				}
				p.say(okWire)
			}
		})
		k.set("b:80", answers)
		n.has("a")
		res, err := o.RoundTrip(t.Context(), get("/slow"))
		if err != nil {
			t.Fatal(err)
		}
		wantBody(t, o, get("/"), "ok") // leaves an idle connection
		wantDialled(t, k, "a a")
		n.has("b")
		if s := o.Stats(time.Now()); s.Leaving != 1 || s.Quiet() || s.Servers[0].Idle != 0 {
			t.Errorf("got %+v, want one connection that leaves", s)
		}
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "b")
		close(goOn)
		text := make([]byte, 10)
		m := 0
		for err == nil {
			var i int
			i, err = res.Body.Read(text[m:])
			m += i
		}
		if string(text[:m]) != "slow" || res.Server != "a:80" {
			t.Errorf("got %q of %s, want all of the response of a:80", text[:m], res.Server)
		}
		_ = res.Body.Close()
		if s := o.Stats(time.Now()); s.Leaving != 0 || openCount(o) != 1 || idleCount(o) != 1 {
			t.Errorf("got %+v, want one idle connection, to b", s)
		}
	})
}

// A lookup that has not ended is waited for in the queue, as a connection is.
func TestRequestsWaitForTheFirstLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(after time.Duration, then func(*name), want Kind) {
			t.Helper()
			o, n, k := startNamed(t, Options{Settings: Settings{QueueRequests: 10, QueueWait: 3 * time.Second, Ejection: ejecting(true)}})
			k.set("a:80", once)
			time.AfterFunc(after, func() { then(n) })
			begun := time.Now()
			_, _, err := fetch(o, get("/"))
			if took := time.Since(begun); took != min(after, 3*time.Second) {
				t.Errorf("waited for %v, want %v", took, after)
			}
			if want == 0 {
				if err != nil {
					t.Errorf("got error %v", err)
				}
				return
			}
			wantKind(t, err, want)
		}
		down := errors.New("resolver down")
		f(time.Second, func(n *name) { n.has("a") }, 0)
		f(time.Second, func(n *name) { n.set(nil, down) }, Connect)
		f(0, func(n *name) { n.set(nil, down) }, Connect)
		f(time.Hour, func(*name) {}, Overload)
	})
}

// While no name could be looked up, requests fail at once, and say why.
func TestWithoutALookupRequestsSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		o, n, k := startNamed(t, Options{Metrics: NewMetrics(registry), Settings: Settings{QueueRequests: 10, QueueWait: 3 * time.Second}})
		n.set(nil, errors.New("resolver down"))
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		if want := "origin app: look the servers up: resolver down"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		if c := sample(t, registry, "edgeproxy_origin_requests_total", "app", "connect"); c != 1 {
			t.Errorf("counted %v requests that could not connect, want 1", c)
		}
		k.set("a:80", once)
		n.has("a")
		n.set([]Member{{Address: "a:80", Name: "app.test:80 (a)", Weight: 1}}, errors.New("resolver down")) // what is known stays
		wantBody(t, o, get("/"), "ok")
		n.set(nil, errors.New("resolver down"))
		wantBody(t, o, get("/"), "ok")
	})
}

// A server beside the name is there from the start.
func TestANameBesideAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Servers: []Server{{Address: "z:80", Weight: 2}}})
		for _, s := range []string{"a:80", "b:80", "z:80"} {
			k.set(s, once)
		}
		wantBody(t, o, get("/"), "ok")
		wantDialled(t, k, "z")
		n.set([]Member{{Address: "a:80", Weight: 3}, {Address: "b:80", Weight: 1, Tier: 1}}, nil)
		for range 10 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := strings.Fields(k.dialled()); len(got) != 10 || strings.Count(strings.Join(got, ""), "a") != 6 || slices.Contains(got, "b") {
			t.Errorf("dialled %q, want a six times of ten by its weight, and no backup", got)
		}
		if s := o.Stats(time.Now()).Servers; len(s) != 3 || s[0].Address != "z:80" || s[1].Weight != 3 || s[1].Backup || !s[2].Backup {
			t.Errorf("got %+v, want z, a of weight 3, and b, a backup", s)
		}
		k.set("a:80", nil)
		k.set("z:80", nil)
		wantBody(t, o, get("/"), "ok")
		n.set([]Member{{Address: "b:80", Weight: 1}}, nil) // another weight and tier, of the same server
		if s := o.Stats(time.Now()).Servers; len(s) != 2 || s[1].Backup {
			t.Errorf("got %+v, want b as a usual server", s)
		}
	})
}

// A URL has the same server whatever the name says first, and only those of an address that leaves move.
func TestHashGoesByTheAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Settings: Settings{Balance: balance.Hash}})
		for _, s := range []string{"a:80", "b:80", "c:80"} {
			k.set(s, once)
		}
		places := func() (out []string) {
			for i := range 40 {
				wantBody(t, o, get(fmt.Sprint("/", i)), "ok")
			}
			return strings.Fields(k.dialled())
		}
		n.has("a", "b", "c")
		before := places()
		n.has("c", "b")
		for i, s := range places() {
			if before[i] != s && before[i] != "a" {
				t.Errorf("/%d moved from %s to %s", i, before[i], s)
			}
		}
	})
}

// Checks and requests that have no Host get the name, and not the address.
func TestMembersAreCheckedByTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Settings: Settings{Health: Health{Path: "/health", Interval: time.Second, Unhealthy: 1, Healthy: 1}}})
		a, b := &checked{status: "200"}, &checked{status: "500"}
		k.set("a:80", a.play)
		k.set("b:80", b.play)
		n.has("a", "b")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		wantStates(t, o, "app.test:80 (a) up, app.test:80 (b) down")
		if !strings.Contains(a.heads[0], "\r\nHost: app.test:80\r\n") {
			t.Errorf("got %q, want the name as Host", a.heads[0])
		}
		n.has("a")
		k.dialled()
		time.Sleep(5 * time.Second)
		if got := k.dialled(); strings.Contains(got, "b") || got == "" {
			t.Errorf("dialled %q, want no checks of b, which has left", got)
		}
		n.has("a", "b") // a new server: well until a check says otherwise
		wantStates(t, o, "app.test:80 (a) up, app.test:80 (b) up")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantStates(t, o, "app.test:80 (a) up, app.test:80 (b) down")
	})
}

// A request whose servers have all left is not stuck in the queue, and one that waits gets what has come.
func TestWaitersFollowTheMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 10, QueueWait: 30 * time.Second}})
		k.set("a:80", func(_ int, p *peer) {
			p.request()
			p.untilClosed()
		})
		k.set("b:80", once)
		n.has("a")
		ended := make(chan error, 1)
		go func() {
			_, _, err := fetch(o, get("/"))
			ended <- err
		}()
		synctest.Wait()
		time.AfterFunc(time.Second, func() { n.has("b") })
		wantBody(t, o, get("/"), "ok")
		o.Close()
		if err := <-ended; err == nil {
			t.Error("got an answer of an address that has left and says nothing")
		}
	})
}

// A request that has tried all that are left does not wait any more.
func TestARequestDoesNotWaitForAnAddressThatHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 10, QueueWait: 30 * time.Second}})
		k.set("b:80", answers)
		n.has("b")
		busy, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatal(err)
		}
		n.has("a", "b")
		time.AfterFunc(time.Second, func() { n.has("a") })
		begun := time.Now()
		_, err = o.RoundTrip(t.Context(), get("/"))
		if wantKind(t, err, Connect); !errors.Is(err, errRefused) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v, want the refusal of a after 1s", err, time.Since(begun))
		}
		_ = busy.Body.Close()
	})
}

// What is found out about an address that has left says nothing of those that are there.
func TestAnAddressThatHasLeftIsNotEjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n, k := startNamed(t, Options{OnChange: func(c Change) { t.Errorf("told %+v", c) }, Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Second}}})
		k.set("a:80", hangs)
		k.set("b:80", once)
		n.has("a")
		time.AfterFunc(time.Second, func() { n.has("b") })
		wantBody(t, o, get("/"), "ok") // the answer of b, after the connect timeout of a
		wantStates(t, o, "app.test:80 (b) up")
		if s := o.Stats(time.Now()); s.Leaving != 0 {
			t.Errorf("got %+v, want no connection to a", s)
		}
	})
}

// By HTTP/2 too, a connection to an address that leaves ends with its last request.
func TestAnAddressThatLeavesByHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n, goOn := newPipeListener(), &name{}, make(chan bool)
		serving(t, h2c(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Host)
			if r.URL.Path == "/slow" {
				w.(http.Flusher).Flush()
				<-goOn
			}
		})), l)
		o, err := New(Options{Name: "app", Dial: l.dial, Servers: []Server{{Address: "app.test:80", Follow: n.follow}}, Settings: Settings{HTTP2: true}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Close)
		n.has("a")
		res, err := o.RoundTrip(t.Context(), get("/slow"))
		if err != nil {
			t.Fatal(err)
		}
		n.has("b")
		wantBody(t, o, get("/"), "origin.test")
		synctest.Wait()
		if s := o.Stats(time.Now()); s.Leaving == 0 || s.Servers[0].HTTP2 != 1 {
			t.Errorf("got %+v, want a connection to b, and one that leaves", s)
		}
		close(goOn)
		if text, err := io.ReadAll(res.Body); string(text) != "origin.test" || err != nil {
			t.Errorf("got %q and error %v, want all of the response of a", text, err)
		}
		_ = res.Body.Close()
		synctest.Wait()
		if s := o.Stats(time.Now()); s.Leaving != 0 {
			t.Errorf("got %+v, want no connection to a any more", s)
		}
	})
}

func TestAFollowedServerWithTLSNeedsAName(t *testing.T) {
	_, err := New(Options{Name: "app", Servers: []Server{{Address: "app.test", TLS: &tls.Config{MinVersion: tls.VersionTLS12}, Follow: (&name{}).follow}}})
	if err == nil || !strings.Contains(err.Error(), "TLS of app.test: needs a server name") {
		t.Errorf("got %v, want that the server name is missing", err)
	}
}
