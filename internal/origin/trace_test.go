package origin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
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

// The request was on its way when it was given up, so its trace says to whom, and since when.
func TestTraceOfACallThatIsAbandonedWhileItWaits(t *testing.T) {
	var e ears
	asked := make(chan struct{})
	o := startWarm(t, Options{}, func(_ int, p *peer) {
		p.request()
		close(asked)
		p.untilClosed()
	})
	c := call(t, o, e.traced())
	go func() {
		<-asked
		c.Nudge()
	}()
	if c.Ready() {
		t.Error("got ready, want not")
	}
	c.Abandon()
	if got := wantEnd(t, &e, Canceled, 1); got.Server == "" || got.Sent.IsZero() || !got.FirstByte.IsZero() {
		t.Errorf("got %+v, want it sent and not answered", got)
	}
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
	if got := wantEnd(t, &e, Malformed, 1); got.Sent.IsZero() || got.FirstByte.IsZero() {
		t.Errorf("got %+v, want the first byte of what came", got)
	}

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

// A try that brings no response has begun to be sent all the same. An interim response is not the first byte of the one
// that is waited for.
func TestTraceOfAFirstByteThatDoesNotCome(t *testing.T) {
	const limit = 3 * time.Second
	f := func(name string, o func(t *testing.T) *Origin) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e ears
				_, _, err := fetch(o(t), e.traced())
				wantKind(t, err, Timeout)
				if got := wantEnd(t, &e, Timeout, 1); got.Sent.IsZero() || !got.FirstByte.IsZero() || got.End.Sub(got.Sent) != limit {
					t.Errorf("got %+v, want %v since it was sent", got, limit)
				}
			})
		})
	}
	silent := func(said string) func(t *testing.T) *Origin {
		return func(t *testing.T) *Origin {
			t.Helper()
			return inMemory(t, Options{Settings: Settings{FirstByteTimeout: limit}}, func(_ int, p *peer) { p.request(); p.say(said); p.untilClosed() })
		}
	}
	f("nothing", silent(""))
	f("an interim response", silent("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"))
	f("HTTP/2", func(t *testing.T) *Origin {
		t.Helper()
		return h2InMemory(t, Options{Settings: Settings{FirstByteTimeout: limit}}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	})
}

// Nothing of a try is left in the next one, which came less far.
func TestTraceOfTheLastTryAlone(t *testing.T) {
	var e ears
	var dials atomic.Int32
	o := Options{}
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			return nil, errors.New("nobody is there any more")
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	origin := startWarm(t, o, func(_ int, p *peer) { p.request() })
	_, _, err := fetch(origin, e.traced())
	wantKind(t, err, Connect)
	e.mu.Lock()
	tries := e.ends[0].Tries
	e.mu.Unlock()
	if got := wantEnd(t, &e, Connect, tries); tries < 2 || got.ConnectBegun.IsZero() || !got.Sent.IsZero() {
		t.Errorf("got %+v, want only the connecting", got)
	}
}

// Who could not connect to one server, and waits for another one, fails in the queue.
func TestTraceOfAWaitBesideADeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ears
		o, _, release := beside(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: time.Minute, FirstByteTimeout: time.Hour}})
		_, _, err := fetch(o, e.traced())
		close(release)
		o.Close()
		wantRest(t, o, 0)
		wantKind(t, err, Overload)
		if len(e.ends) != 1 || e.ends[0].ConnectBegun.IsZero() || e.ends[0].End.Sub(e.ends[0].QueueBegun) != time.Minute {
			t.Errorf("got %+v, want a wait of a minute", e.ends)
		}
	})
}

// A request that found a connection at once was not in the queue, however long the machine took to give it one.
func TestTraceOfTheQueueIsThatOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ears
		o, res := occupied(t, Options{Settings: Settings{QueueRequests: 1, QueueWait: 3 * time.Second}})
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
