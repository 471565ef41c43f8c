//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package origin

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

// idleConn returns the idle connection of o, of which there has to be one.
func idleConn(t *testing.T, o *Origin) *conn {
	t.Helper()
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	if len(o.pool.servers[0].idle) != 1 {
		t.Fatalf("got %d idle connections, want 1", len(o.pool.servers[0].idle))
	}
	return o.pool.servers[0].idle[0]
}

// TestATurnDoesNotTakeWhatCameBeforeItsRequest: a response that came before the request is
// another's, perhaps of an attacker's making.
func TestATurnDoesNotTakeWhatCameBeforeItsRequest(t *testing.T) {
	for name, stray := range map[string]string{"a response": okWire, "a byte": "H", "the end": ""} {
		t.Run(name, func(t *testing.T) {
			kept := make(chan struct{})
			o := startWarm(t, Options{}, func(_ int, p *peer) {
				<-kept
				if p.say(stray); stray != "" {
					p.untilClosed()
				}
			})
			idle := idleConn(t, o)
			close(kept)
			eventually(t, "something has arrived", func() bool { return !idle.quiet() })
			c := call(t, o, get("/"))
			if c.Ready() {
				t.Error("got ready, want not: the connection is of no use")
			}
			wantAnswer(t, c, "1")
			wantSlots(t, o, 1, 1)
		})
	}
}

// TestWhatACallDoesNotSendAtOnceIsNotAnsweredByWhatCameBefore: no turn looks at the socket for a large head, or for
// a call that is finished at once.
func TestWhatACallDoesNotSendAtOnceIsNotAnsweredByWhatCameBefore(t *testing.T) {
	large := get("/")
	large.Header = field.List{{Name: "X-Large", Value: strings.Repeat("x", sentAtOnce)}}
	for name, r := range map[string]*Request{
		"a large head":     large,
		"finished at once": get("/"),
	} {
		t.Run(name, func(t *testing.T) {
			kept := make(chan struct{})
			o := startWarm(t, Options{}, func(_ int, p *peer) {
				<-kept
				p.say(okWire)
				p.untilClosed()
			})
			idle := idleConn(t, o)
			close(kept)
			eventually(t, "something has arrived", func() bool { return !idle.quiet() })
			c := call(t, o, r)
			if r == large {
				c.Ready()
			}
			wantAnswer(t, c, "1")
			wantSlots(t, o, 1, 1)
		})
	}
}

// TestATurnHasAllOfItsTime: the deadline of a connection moves once in many turns.
func TestATurnHasAllOfItsTime(t *testing.T) {
	const left = 20 * time.Millisecond
	shorten := func(t *testing.T, o *Origin, limit time.Duration) {
		t.Helper()
		c := idleConn(t, o)
		c.turnDeadline = time.Now().Add(limit)
		if err := c.nc.SetDeadline(time.Now().Add(left)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("where the origin answers late", func(t *testing.T) {
		o := startWarm(t, Options{Settings: Settings{FirstByteTimeout: testkit.Patience}}, func(_ int, p *peer) {
			p.request()
			_ = p.SetReadDeadline(time.Now().Add(2 * left))
			_, _ = p.br.ReadByte()
			p.say(okWire)
			_ = p.SetReadDeadline(time.Time{})
			p.untilClosed()
		})
		shorten(t, o, testkit.Patience)
		c := call(t, o, get("/"))
		c.Ready()
		wantAnswer(t, c, "ok")
		wantSlots(t, o, 1, 1)
	})
	t.Run("and no more", func(t *testing.T) {
		const limit = 300 * time.Millisecond
		o := startWarm(t, Options{Settings: Settings{FirstByteTimeout: limit}}, func(_ int, p *peer) { p.untilClosed() })
		begun := time.Now() // the limit counts from some moment after this
		shorten(t, o, limit)
		c := call(t, o, get("/"))
		c.Ready()
		_, err := c.Finish()
		wantKind(t, err, Timeout)
		if took := time.Since(begun); took < limit {
			t.Errorf("took %v, want at least %v", took, limit)
		}
	})
}

// TestATurnAfterItsDeadline: a connection that lay idle for longer than a head may take is used.
func TestATurnAfterItsDeadline(t *testing.T) {
	for name, fetch := range map[string]func(t *testing.T, o *Origin){
		"by a call": func(t *testing.T, o *Origin) {
			t.Helper()
			c := call(t, o, get("/"))
			c.Ready()
			wantAnswer(t, c, "ok")
		},
		"at once": func(t *testing.T, o *Origin) { t.Helper(); wantBody(t, o, get("/"), "ok") },
	} {
		for _, until := range []time.Time{time.Unix(1, 0), time.Now().Add(time.Hour)} {
			t.Run(name, func(t *testing.T) {
				o := startWarm(t, Options{}, each(okWire))
				idle := idleConn(t, o)
				idle.turnDeadline = until // what is set has passed; this is what the connection thinks
				if err := idle.nc.SetDeadline(time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
				fetch(t, o)
				if got := idleConn(t, o); got != idle {
					t.Error("got another connection, want the one that was idle")
				}
			})
		}
	}
}

// TestADeadlineMovesOnceInManyTurns: to move one is work for a timer.
func TestADeadlineMovesOnceInManyTurns(t *testing.T) {
	o := startWarm(t, Options{}, each(okWire))
	var set time.Time
	for n := range 3 {
		c := call(t, o, get("/"))
		if !c.Ready() {
			t.Error("got not ready, want ready")
		}
		wantAnswer(t, c, "ok")
		until := idleConn(t, o).turnDeadline
		if n == 0 {
			set = until
		}
		if until.IsZero() || until != set {
			t.Errorf("turn %d: got the deadline %v, want that of the first turn, %v", n, until, set)
		}
	}
}

// TestATurnSaysHowItsReadFailed: a read that fails takes the error out of the socket, and the next one would find
// an end in its place.
func TestATurnSaysHowItsReadFailed(t *testing.T) {
	post := func() *Request { // is not tried again
		return &Request{Method: "PURGE", Target: "/", Host: "h"}
	}
	for name, want := range map[string]error{"a reset": syscall.ECONNRESET, "an end": io.ErrUnexpectedEOF} {
		t.Run(name, func(t *testing.T) {
			o := startWarm(t, Options{}, func(_ int, p *peer) {
				p.request()
				if tcp, ok := p.Conn.(*net.TCPConn); ok && want == syscall.ECONNRESET { //nolint:errorlint // ours
					_ = tcp.SetLinger(0)
				}
			})
			c := call(t, o, post())
			if c.Ready() {
				t.Error("got ready, want not: there is no head")
			}
			_, err := c.Finish()
			wantKind(t, err, Cut)
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			wantSlots(t, o, 0, 0)
		})
	}
}
