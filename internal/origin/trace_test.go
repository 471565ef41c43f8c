package origin

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ears hear of ends of traces.
type ears struct {
	mu   sync.Mutex
	ends []Trace
}

func (e *ears) Ended(t *Trace) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ends = append(e.ends, *t)
}

// traced returns a GET whose end e hears of.
func (e *ears) traced() *Request {
	r := get("/traced")
	r.Trace = &Trace{Owner: e}
	return r
}

// wantEnd returns the one trace that has ended, with this kind of failure; 0 is none. The times that it
// has are in order.
func wantEnd(t *testing.T, e *ears, failure Kind, tries int) Trace {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.ends) != 1 {
		t.Fatalf("got %d ends, want one: %+v", len(e.ends), e.ends)
	}
	got := e.ends[0]
	if failure != 0 {
		wantKind(t, got.Err, failure)
	} else if got.Err != nil {
		t.Errorf("got %v, want none", got.Err)
	}
	if got.Tries != tries || got.Method != "GET" {
		t.Errorf("got %+v, want %d tries", got, tries)
	}
	var last time.Time
	for i, at := range []time.Time{got.Begun, got.QueueBegun, got.QueueEnd, got.ConnectBegun, got.Connected, got.Sent, got.FirstByte, got.End} {
		if !at.IsZero() && at.Before(last) {
			t.Errorf("time %d is before the one before it: %+v", i, got)
		}
		if !at.IsZero() {
			last = at
		}
	}
	return got
}

func TestTraceOfARoundTrip(t *testing.T) {
	var e ears
	o := start(t, Options{}, each(okWire))
	wantBody(t, o, e.traced(), "ok")
	got := wantEnd(t, &e, 0, 1)
	if got.ConnectBegun.IsZero() || got.Sent.IsZero() || got.FirstByte.IsZero() || got.Status != 200 || got.Server == "" || got.Host != "origin.test" || got.Secure {
		t.Errorf("got %+v", got)
	}
	e.ends = nil
	wantBody(t, o, e.traced(), "ok")
	if got := wantEnd(t, &e, 0, 1); !got.ConnectBegun.IsZero() || !got.Connected.IsZero() {
		t.Errorf("got %+v, want no connecting: the connection was there", got)
	}
}

func TestTraceOfAResponseWithoutBodyEndsWithItsHead(t *testing.T) {
	var e ears
	o := start(t, Options{}, each("HTTP/1.1 204 No Content\r\n\r\n"))
	res, err := o.RoundTrip(t.Context(), e.traced())
	if err != nil {
		t.Fatal(err)
	}
	if got := wantEnd(t, &e, 0, 1); got.Status != 204 {
		t.Errorf("got %+v", got)
	}
	_ = res.Body.Close()
	wantEnd(t, &e, 0, 1)
	if res.Body.Trace() == nil {
		t.Error("the body does not know its trace")
	}
}

func TestTraceOfACall(t *testing.T) {
	var e ears
	o := startWarm(t, Options{}, func(_ int, p *peer) { p.request(); p.say(okWire); p.untilClosed() })
	c := call(t, o, e.traced())
	if !c.Ready() {
		t.Error("got not ready")
	}
	wantAnswer(t, c, "ok")
	if got := wantEnd(t, &e, 0, 1); !got.QueueBegun.IsZero() || got.Sent.IsZero() {
		t.Errorf("got %+v, want no wait for a place", got)
	}
}

func TestTraceOfACallThatIsAbandoned(t *testing.T) {
	var e ears
	o := startWarm(t, Options{}, func(_ int, p *peer) { p.untilClosed() })
	call(t, o, e.traced()).Abandon()
	wantEnd(t, &e, Canceled, 0)
}

// A connection that the origin had given up makes a second try, and one trace.
func TestTraceHasAllTries(t *testing.T) {
	var e ears
	o := startWarm(t, Options{}, func(_ int, p *peer) { p.request() })
	_, body, err := fetch(o, e.traced())
	if err != nil {
		t.Fatal(body, err)
	}
	if got := wantEnd(t, &e, 0, 2); got.ConnectBegun.IsZero() {
		t.Errorf("got %+v, want the connecting of the second try", got)
	}
}

func TestTraceOfFailures(t *testing.T) {
	var e ears
	cut := start(t, Options{}, func(_ int, p *peer) { p.request(); p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun") })
	if _, _, err := fetch(cut, e.traced()); err == nil {
		t.Error("got no error")
	}
	if got := wantEnd(t, &e, Cut, 1); got.Status != 200 {
		t.Errorf("got %+v", got)
	}

	e.ends = nil
	malformed := start(t, Options{}, each("nonsense\r\n\r\n"))
	_, _, _ = fetch(malformed, e.traced())
	wantEnd(t, &e, Malformed, 1)

	e.ends = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := malformed.RoundTrip(ctx, e.traced()); err == nil {
		t.Error("got no error")
	}
	wantEnd(t, &e, Canceled, 0)

	e.ends = nil
	r := e.traced()
	r.Target = "/a b"
	_, _, _ = fetch(malformed, r)
	wantEnd(t, &e, BadRequest, 0)

	e.ends = nil
	malformed.Close()
	_, _, _ = fetch(malformed, e.traced())
	wantEnd(t, &e, Overload, 0)
}

// A request that found a connection at once was not in the queue, however long the machine took to give it one.
func TestTraceOfTheQueueIsThatOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ears
		o, res := occupied(t, Options{QueueRequests: 1, QueueWait: 3 * time.Second})
		_, _, err := fetch(o, e.traced())
		wantKind(t, err, Overload)
		if got := wantEnd(t, &e, Overload, 0); got.QueueBegun != got.Begun || got.QueueEnd.Sub(got.QueueBegun) != 3*time.Second {
			t.Errorf("got %+v, want a wait of 3s", got)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		e.ends = nil
		wantBody(t, o, e.traced(), "0")
		if got := wantEnd(t, &e, 0, 1); !got.QueueBegun.IsZero() || !got.QueueEnd.IsZero() {
			t.Errorf("got %+v, want no wait: a connection was free", got)
		}
	})
}

func TestTraceOfABodyThatIsClosed(t *testing.T) {
	var e ears
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun")
		p.untilClosed()
	})
	res, err := o.RoundTrip(t.Context(), e.traced())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = res.Body.Close(), res.Body.Close()
	wantEnd(t, &e, Canceled, 1)
}

func TestTraceOfASwitchOfProtocolsEndsWithIt(t *testing.T) {
	var e ears
	o := start(t, Options{}, func(_ int, p *peer) { p.request(); p.say(switchedWire); p.untilClosed() })
	r := upgradeTo("websocket")
	r.Trace = &Trace{Owner: &e}
	res, err := o.RoundTrip(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := wantEnd(t, &e, 0, 1); got.Status != 101 {
		t.Errorf("got %+v", got)
	}
	_ = res.Upgraded.Close()
	wantEnd(t, &e, 0, 1)
}
