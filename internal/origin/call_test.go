package origin

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/http/field"
)

// startWarm returns an Origin with one idle connection, number 0, whose further requests s plays.
func startWarm(t *testing.T, o Options, s script) *Origin {
	t.Helper()
	origin := start(t, o, func(n int, p *peer) {
		if n > 0 {
			numbered(n, p)
			return
		}
		p.request()
		p.say(okWire)
		s(n, p)
	})
	wantBody(t, origin, get("/"), "ok")
	return origin
}

// call starts r, which has to be possible.
func call(t *testing.T, o *Origin, r *Request) *Call {
	t.Helper()
	c := o.Start(t.Context(), r)
	if c == nil {
		t.Fatal("Start: got nil, want a call")
	}
	return c
}

// wantAnswer finishes c.
func wantAnswer(t *testing.T, c *Call, want string) {
	t.Helper()
	res, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != want {
		t.Errorf("got body %q and error %v, want %q", got, err, want)
	}
}

// wantSlots compares how many connections are open, and idle.
func wantSlots(t *testing.T, o *Origin, opened, idle int) {
	t.Helper()
	if a, b := openCount(o), idleCount(o); a != opened || b != idle {
		t.Errorf("got %d connections, %d of them idle, want %d and %d", a, b, opened, idle)
	}
}

func TestACallIsReadyWithTheWholeHead(t *testing.T) {
	for name, pieces := range map[string][]string{
		"at once":   {okWire},
		"in pieces": {"HTTP/1.1 200 OK\r", "\nContent-Length: 2\r\n", "\r\nok"},
	} {
		t.Run(name, func(t *testing.T) {
			o := startWarm(t, Options{}, func(_ int, p *peer) {
				p.request()
				for _, piece := range pieces {
					p.say(piece)
				}
				p.untilClosed()
			})
			c := call(t, o, get("/"))
			if !c.Ready() {
				t.Error("got not ready, want ready")
			}
			c.Nudge() // too late for anything
			wantAnswer(t, c, "ok")
			wantSlots(t, o, 1, 1)
		})
	}
}

func TestANudgedCallGoesOnElsewhere(t *testing.T) {
	answer := make(chan struct{})
	o := startWarm(t, Options{}, func(_ int, p *peer) {
		p.request()
		<-answer
		p.say(okWire)
		p.untilClosed()
	})
	c := call(t, o, get("/"))
	ready := make(chan bool)
	go func() { ready <- c.Ready() }()
	c.Nudge()
	if <-ready {
		t.Error("got ready, want not")
	}
	close(answer)
	wantAnswer(t, c, "ok")
	wantSlots(t, o, 1, 1)
}

func TestACallThatWasNudgedBeforeSendsAllTheSame(t *testing.T) {
	o := startWarm(t, Options{}, each(okWire))
	c := call(t, o, get("/"))
	c.Nudge()
	if c.Ready() {
		t.Error("got ready, want not")
	}
	wantAnswer(t, c, "ok")
}

func TestACallOfWhichFinishWaits(t *testing.T) {
	t.Run("to connect", func(t *testing.T) {
		o := start(t, Options{}, numbered)
		c := call(t, o, get("/"))
		if c.Ready() {
			t.Error("got ready, want not")
		}
		wantAnswer(t, c, "0")
		wantSlots(t, o, 1, 1)
	})
	t.Run("for another try", func(t *testing.T) {
		o := startWarm(t, Options{}, func(_ int, p *peer) { p.request() })
		c := call(t, o, get("/"))
		if c.Ready() {
			t.Error("got ready, want not")
		}
		wantAnswer(t, c, "1")
		wantSlots(t, o, 1, 1)
	})
	t.Run("behind an interim response", func(t *testing.T) {
		o := startWarm(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			p.say(okWire)
			p.untilClosed()
		})
		r, hints := get("/"), 0
		r.Interim = func(int, field.List) { hints++ }
		c := call(t, o, r)
		if c.Ready() || hints != 0 {
			t.Errorf("got ready, or %d interim responses, want neither", hints)
		}
		wantAnswer(t, c, "ok")
		if hints != 1 {
			t.Errorf("got %d interim responses, want 1", hints)
		}
	})
}

// TestACallDoesNotWaitToSendALargeHead: no Nudge could end that.
func TestACallDoesNotWaitToSendALargeHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: time.Minute}}, func(_ int, p *peer) {
			p.request()
			p.say(okWire)
			time.Sleep(time.Second)
			p.request()
			p.say(okWire)
			p.untilClosed()
		})
		defer o.Close()
		wantBody(t, o, get("/"), "ok")
		r, begun := get("/"), time.Now()
		r.Header.Add("X-Large", strings.Repeat("x", sentAtOnce))
		c := call(t, o, r)
		if c.Ready() {
			t.Error("got ready, want not")
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("took %v, want no time: the origin reads nothing yet", took)
		}
		wantAnswer(t, c, "ok")
		wantSlots(t, o, 1, 1)
	})
}

func TestACallIsReadyForAMalformedHead(t *testing.T) {
	o := startWarm(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\n")
		p.untilClosed()
	})
	c := call(t, o, get("/"))
	if !c.Ready() {
		t.Error("got not ready, want ready")
	}
	_, err := c.Finish()
	wantKind(t, err, Malformed)
	wantSlots(t, o, 0, 0)
}

func TestACallEndsWithItsContext(t *testing.T) {
	o := startWarm(t, Options{}, func(_ int, p *peer) { p.untilClosed() })
	ctx, cancel := context.WithCancel(t.Context())
	c := o.Start(ctx, get("/"))
	ready := make(chan bool)
	go func() { ready <- c.Ready() }()
	cancel()
	if <-ready {
		t.Error("got ready, want not")
	}
	_, err := c.Finish()
	wantKind(t, err, Canceled)
	wantSlots(t, o, 0, 0)
}

func TestACallKeepsTheTimeOfAFirstByte(t *testing.T) {
	for _, nudged := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: time.Minute}}, func(_ int, p *peer) {
				p.request()
				p.say(okWire)
				p.untilClosed()
			})
			defer o.Close()
			wantBody(t, o, get("/"), "ok")
			begun := time.Now()
			c := call(t, o, get("/"))
			if nudged {
				time.AfterFunc(time.Second, c.Nudge)
			}
			if c.Ready() {
				t.Error("got ready, want not")
			}
			_, err := c.Finish()
			wantKind(t, err, Timeout)
			if took := time.Since(begun); took != time.Minute {
				t.Errorf("nudged %v: took %v, want a minute", nudged, took)
			}
		})
	}
}

func TestAnAbandonedCallHoldsNothing(t *testing.T) {
	o := startWarm(t, Options{OriginShare: 0.5}, func(_ int, p *peer) { p.untilClosed() })
	for range 3 {
		c := call(t, o, get("/"))
		c.Nudge()
		if c.Ready() {
			t.Error("got ready, want not")
		}
		c.Abandon()
		wantSlots(t, o, 0, 0)
	}
}

func TestStartBeginsNothingThatWaits(t *testing.T) {
	o := startWarm(t, Options{Settings: Settings{MaxConnections: 1}}, each(okWire))
	c := call(t, o, get("/"))
	if o.Start(t.Context(), get("/")) != nil {
		t.Error("got a call, want nil: all connections are in use")
	}
	if !c.Ready() {
		t.Error("got not ready, want ready")
	}
	wantAnswer(t, c, "ok")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if o.Start(ended, get("/")) != nil || o.Start(t.Context(), &Request{Method: "GET", Target: "a b"}) != nil {
		t.Error("got a call, want nil: it would fail")
	}
	wantSlots(t, o, 1, 1)
}

// TestACallKeepsTheLimitOfAHead: a head that a Call has looked at is taken by a way of its own.
func TestACallKeepsTheLimitOfAHead(t *testing.T) {
	for limit, kind := range map[int]Kind{len(okWire) - len("ok"): 0, len(okWire) - len("ok") - 1: Malformed} {
		o := start(t, Options{}, each(okWire))
		wantBody(t, o, get("/"), "ok")
		o.options.MaxHeaderBytes = limit
		c := call(t, o, get("/"))
		if !c.Ready() {
			t.Error("got not ready, want ready")
		}
		if kind == 0 {
			wantAnswer(t, c, "ok")
			continue
		}
		_, err := c.Finish()
		wantKind(t, err, kind)
	}
}
