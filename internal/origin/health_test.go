package origin

import (
	"crypto/tls"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/test/testkit"
)

// checked answers health checks with a status that can be changed, and all else
// with ok.
type checked struct {
	mu     sync.Mutex
	status string
	heads  []string
	at     []time.Time
}

func (c *checked) play(_ int, p *peer) {
	for r := p.request(); r != ""; r = p.request() {
		if !strings.HasPrefix(r, "GET /health ") {
			p.say(okWire)
			continue
		}
		c.mu.Lock()
		c.heads, c.at = append(c.heads, r), append(c.at, time.Now())
		status := c.status
		c.mu.Unlock()
		if status == "" {
			p.untilClosed()
			return
		}
		p.say("HTTP/1.1 " + status + " X\r\nContent-Length: 100\r\n\r\n")
	}
}

func (c *checked) set(status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func TestHealthChecksTakeOutAndBringBack(t *testing.T) {
	for _, bad := range []string{"503", "404", ""} { // and silence
		synctest.Test(t, func(t *testing.T) {
			var changes []string
			a := &checked{status: "200"}
			o, _ := startCluster(t, Options{
				OnChange: func(c Change) {
					changes = append(changes, c.Server+" "+c.State.String())
					if (c.Err != nil) != (c.State == balance.Down) {
						t.Errorf("%v: got error %v", c.State, c.Err)
					}
				},
				Settings: Settings{Health: Health{Path: "/health", Interval: 10 * time.Second, Timeout: time.Second, Healthy: 2, Unhealthy: 3}},
			}, a.play, (&checked{status: "204"}).play)
			state := func() balance.State {
				synctest.Wait()
				return o.Stats(time.Now()).Servers[0].State
			}
			synctest.Wait() // for the first check
			a.set(bad)
			time.Sleep(25 * time.Second)
			if got := state(); got != balance.Up {
				t.Errorf("after two bad checks: got %v, want up", got)
			}
			time.Sleep(15 * time.Second)
			if got := state(); got != balance.Down {
				t.Errorf("after three bad checks: got %v, want down", got)
			}
			for range 4 {
				wantBody(t, o, get("/"), "ok")
			}
			if s := o.Stats(time.Now()).Servers; s[0].Idle != 0 || s[1].Idle != 1 {
				t.Errorf("got %+v, want requests only for the second", s)
			}
			a.set("302")
			time.Sleep(25 * time.Second)
			if got := state(); got != balance.Up {
				t.Errorf("after two good checks: got %v, want up", got)
			}
			if got := strings.Join(changes, ", "); got != "a:80 down, a:80 up" {
				t.Errorf("told %s", got)
			}
		})
	}
}

func TestHealthCheckIsAGetOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &checked{status: "200"}
		o, k := startCluster(t, Options{Settings: Settings{MaxConnections: 1, Health: Health{Path: "/health", Host: "app.test", Interval: 7 * time.Second}}}, a.play)
		time.Sleep(15 * time.Second)
		o.Close()
		wantDialled(t, k, "a a a")
		if want := "GET /health HTTP/1.1\r\nHost: app.test\r\nUser-Agent: edgeproxy health check\r\n\r\n"; a.heads[0] != want {
			t.Errorf("got %q, want %q", a.heads[0], want)
		}
		if d := a.at[2].Sub(a.at[0]); d != 14*time.Second {
			t.Errorf("got 14s between the first and the third, want %v", d)
		}
		time.Sleep(time.Minute)
		wantDialled(t, k, "") // none after Close
	})
}

// Where all are down, requests are tried anyway: the checks may be wrong.
func TestAllDownAreTriedAnyway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &checked{status: "500"}
		o, _ := startCluster(t, Options{Settings: Settings{Health: Health{Path: "/health", Unhealthy: 1}}}, a.play)
		time.Sleep(time.Second)
		if got := o.Stats(time.Now()).Servers[0].State; got != balance.Down {
			t.Errorf("got %v, want down", got)
		}
		wantBody(t, o, get("/"), "ok")
	})
}

func TestHealthCheckOverTLS(t *testing.T) {
	a := testkit.NewAuthority(t)
	var checks atomic.Int32
	address := loopback(t, overTLS(&tls.Config{Certificates: []tls.Certificate{a.Good("127.0.0.1")}}, func(_ int, p *peer) {
		if strings.HasPrefix(p.request(), "GET /health ") {
			checks.Add(1)
			p.say(okWire)
		}
	}))
	o := open(t, Options{Address: address, TLS: &tls.Config{RootCAs: a.Pool()}, Settings: Settings{Health: Health{Path: "/health", Interval: time.Hour}}})
	eventually(t, "the server is asked", func() bool { return checks.Load() == 1 })
	if got := o.Stats(time.Now()).Servers[0].State; got != balance.Up {
		t.Errorf("got %v, want up", got)
	}
}
