package origin

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
)

// shownServers returns the states of the servers, with their connections.
func shownServers(o *Origin) (states []balance.State, active, idle int) {
	for _, s := range o.Stats(time.Now()).Servers {
		states, active, idle = append(states, s.State), active+s.Active, idle+s.Idle
	}
	return states, active, idle
}

func TestADrainedServerFinishesWhatItHasAndGetsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		slow := func(_ int, p *peer) {
			for r := p.request(); r != ""; r = p.request() {
				if strings.HasPrefix(r, "GET /slow ") {
					<-goOn
				}
				p.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
			}
		}
		o, _ := startCluster(t, Options{}, slow, each("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			wantBody(t, o, get("/slow"), "a")
		}()
		synctest.Wait()
		wantBody(t, o, get("/"), "b")
		wantBody(t, o, get("/"), "a")
		if n := o.Drain("a:80", true); n != 1 {
			t.Errorf("got %d servers drained, want 1", n)
		}
		if n := o.Drain("c:80", true); n != 0 {
			t.Errorf("got %d servers drained by a name that none has, want 0", n)
		}
		if states, active, idle := shownServers(o); states[0] != balance.Drained || states[1] != balance.Up || active != 1 || idle != 1 {
			t.Errorf("got %v, %d connections in use and %d idle, want the first drained, with one in use", states, active, idle)
		}
		for range 4 {
			wantBody(t, o, get("/"), "b")
		}
		close(goOn)
		<-ended
		synctest.Wait()
		if _, active, idle := shownServers(o); active != 0 || idle != 1 {
			t.Errorf("got %d connections in use and %d idle, want none kept to the drained server", active, idle)
		}
		o.Drain("a:80", false)
		for range 2 {
			res, err := o.RoundTrip(t.Context(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		if _, _, idle := shownServers(o); idle != 2 {
			t.Errorf("got %d idle connections, want one to each server", idle)
		}
	})
}

// With HTTP/2 the connection ends with the last request on it.
func TestADrainedServerKeepsNoConnectionOfHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		o := h2InMemory(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				<-goOn
			}
			_, _ = io.WriteString(w, "ok")
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			wantBody(t, o, get("/slow"), "ok")
		}()
		synctest.Wait()
		name := o.Stats(time.Now()).Servers[0].Address
		o.Drain(name, true)
		if n := h2Count(o); n != 1 {
			t.Errorf("with a request: got %d connections, want 1", n)
		}
		close(goOn)
		<-ended
		synctest.Wait()
		if n := h2Count(o); n != 0 {
			t.Errorf("without a request: got %d connections, want none", n)
		}
		o.Drain(name, false)
		wantBody(t, o, get("/"), "ok")
	})
}

func TestWhereAllAreDrainedNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		o, _ := startCluster(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 5, QueueWait: time.Hour}}, func(_ int, p *peer) {
			for p.request() != "" {
				<-hold
				p.say(okWire)
			}
		})
		first, waits := make(chan struct{}), make(chan error, 1)
		go func() {
			defer close(first)
			wantBody(t, o, get("/"), "ok")
		}()
		synctest.Wait()
		go func() {
			_, err := o.RoundTrip(t.Context(), get("/"))
			waits <- err
		}()
		synctest.Wait()
		begun := time.Now()
		o.Drain("a:80", true)
		if err := <-waits; !errors.Is(err, ErrAllOut) {
			t.Errorf("one that waits: got %v, want %v", err, ErrAllOut)
		}
		_, err := o.RoundTrip(t.Context(), get("/"))
		if !errors.Is(err, ErrAllOut) || time.Since(begun) != 0 {
			t.Errorf("one that comes: got %v after %v, want %v at once", err, time.Since(begun), ErrAllOut)
		}
		close(hold)
		<-first
		o.Drain("a:80", false)
		wantBody(t, o, get("/"), "ok")
	})
}

// A reload must not give requests to a server that is being repaired.
func TestADrainedServerStaysSoInTheOriginThatTakesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, _ := startCluster(t, Options{}, once, once)
		before.Drain("b:80", true)
		after, k := startCluster(t, Options{Before: before, Settings: Settings{MaxConnections: 7}}, once, once)
		for range 3 {
			wantBody(t, after, get("/"), "ok")
		}
		wantDialled(t, k, "a a a")
		if states, _, _ := shownServers(after); states[0] != balance.Up || states[1] != balance.Drained {
			t.Errorf("got %v, want the second drained", states)
		}
	})
}

// A name that was away came back with requests, or not, as it happened.
func TestADrainedServerThatWasAwayIsStillDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Member{Address: "a:80", Weight: 1}, Member{Address: "b:80", Weight: 1}
		o, n, _ := startNamed(t, Options{})
		n.set([]Member{a, b}, nil)
		o.Drain("a:80", true)
		n.set([]Member{b}, nil)
		wantStates(t, o, "b:80 up")
		n.set([]Member{a, b}, nil)
		wantStates(t, o, "a:80 drained, b:80 up")

		// Two reloads while no lookup ends.
		between, _, _ := startNamed(t, Options{Before: o})
		after, n, _ := startNamed(t, Options{Before: between})
		n.set([]Member{a, b}, nil)
		wantStates(t, after, "a:80 drained, b:80 up")

		if found := after.Drain("c:80", true); found != 0 {
			t.Errorf("an unknown name: got %d servers", found)
		}
		n.set([]Member{a, b, {Address: "c:80", Weight: 1}}, nil)
		wantStates(t, after, "a:80 drained, b:80 up, c:80 up")
		after.Drain("a:80", false)
		n.set([]Member{b}, nil)
		n.set([]Member{a, b}, nil)
		wantStates(t, after, "a:80 up, b:80 up")
	})
}

func TestTheLastCheckIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &checked{status: "200"}
		o, _ := startCluster(t, Options{Settings: Settings{Health: Health{Path: "/health", Interval: 10 * time.Second, Timeout: time.Second}}}, a.play)
		begun := time.Now()
		f := func(status string, at time.Duration, why string) {
			t.Helper()
			a.set(status)
			time.Sleep(time.Until(begun.Add(at)))
			synctest.Wait()
			c := o.Stats(time.Now()).Servers[0].Check
			got := ""
			if c.Err != nil {
				got = c.Err.Error()
			}
			if d := c.At.Sub(begun); d != at || !strings.Contains(got, why) || (why == "") != (got == "") {
				t.Errorf("after %v: got a check at %v, %q, want %q", at, d, got, why)
			}
		}
		f("200", 0, "")
		f("503", 10*time.Second, "got status 503, must be 200 to 399")
		f("", 21*time.Second, "check the health") // a second for the answer that does not come
		f("200", 31*time.Second, "")
	})
}

// The waits of a server are those of its responses.
func TestTheTimeToTheFirstByteIsCountedByServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startCluster(t, Options{}, func(_ int, p *peer) {
			for p.request() != "" {
				time.Sleep(300 * time.Millisecond)
				p.say(okWire)
			}
		})
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		if s := o.Stats(time.Now()).Servers[0]; s.Waited != 900*time.Millisecond {
			t.Errorf("got %v, want 900ms", s.Waited)
		}
	})
}
