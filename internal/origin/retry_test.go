package origin

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/http/field"
)

// failing returns a Dial that fails with what comes from the channel.
func failing(errs <-chan error) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case err := <-errs:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// abandons answers once on its first connection, reads the second request and
// closes: what an origin does whose idle timeout runs out just then.
func abandons(seen chan<- string) script {
	return func(n int, p *peer) {
		for i := 0; ; i++ {
			r := p.request()
			if r == "" {
				return
			}
			seen <- strings.SplitN(r, " ", 3)[0]
			if n == 0 && i == 1 {
				return
			}
			p.say(okWire)
		}
	}
}

func TestAbandonedConnection(t *testing.T) {
	f := func(r *Request, wantErr bool, wantSeen int) {
		t.Helper()
		seen := make(chan string, 10)
		o := start(t, Options{}, abandons(seen))
		wantBody(t, o, get("/"), "ok")
		_, got, err := fetch(o, r)
		if wantErr {
			wantKind(t, err, Cut)
		} else if err != nil || r.Method != "HEAD" && got != "ok" {
			t.Errorf("%s: got %q and error %v, want ok", r.Method, got, err)
		}
		if n := len(seen) - 1; n != wantSeen {
			t.Errorf("%s with body %v: the origin saw it %d times, want %d", r.Method, r.Body != nil, n, wantSeen)
		}
	}
	f(get("/"), false, 2)
	f(&Request{Method: "HEAD", Target: "/", Host: "h"}, false, 2)
	f(&Request{Method: "OPTIONS", Target: "/", Host: "h"}, false, 2)
	f(&Request{Method: "QUERY", Target: "/", Host: "h"}, false, 2)
	f(&Request{Method: "QUERY", Target: "/", Host: "h", Body: strings.NewReader("x"), ContentLength: 1}, true, 1)
	f(&Request{Method: "POST", Target: "/", Host: "h"}, true, 1)
	f(&Request{Method: "PUT", Target: "/", Host: "h"}, false, 2)
	f(&Request{Method: "DELETE", Target: "/", Host: "h"}, false, 2)
	f(&Request{Method: "PUT", Target: "/", Host: "h", Body: strings.NewReader("x"), ContentLength: 1, Whole: []byte("x")}, false, 2)
	f(&Request{Method: "PUT", Target: "/", Host: "h", Body: strings.NewReader("x"), ContentLength: 1}, true, 1)
	f(&Request{Method: "PUT", Target: "/", Host: "h", Header: field.List{{Name: "If-Match", Value: `"a"`}}}, true, 1)
	f(&Request{Method: "DELETE", Target: "/", Host: "h", Header: field.List{{Name: "If-Unmodified-Since", Value: "x"}}}, true, 1)
	f(&Request{Method: "PATCH", Target: "/", Host: "h"}, true, 1)
	f(&Request{Method: "GET", Target: "/", Host: "h", Body: strings.NewReader(""), ContentLength: 0}, true, 1)
}

func TestNothingElseIsRepeated(t *testing.T) {
	f := func(name string, on0, on1 string, want Kind) {
		t.Helper()
		requests := make(chan int, 10)
		o := start(t, Options{}, func(n int, p *peer) {
			if n == 0 && on0 != "" {
				p.request()
				p.say(on0)
			}
			if p.request() != "" {
				requests <- n
				p.say(on1)
			}
		})
		if on0 != "" {
			wantBody(t, o, get("/"), "ok")
		}
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, want)
		if len(requests) != 1 {
			t.Errorf("%s: the origin saw the request %d times, want once", name, len(requests))
		}
	}
	f("fresh connection closed without a byte", "", "", Cut)
	f("used connection closed after one byte", okWire, "H", Cut)
	f("used connection with a malformed head", okWire, "HTTP/3 200\r\n\r\n", Malformed)
	f("used connection cut in the body", okWire, okWire[:len(okWire)-1], Cut)
	f("used connection with an interim response only", okWire, "HTTP/1.1 100 Continue\r\n\r\n", Cut)
}

func TestDialIsTriedTwice(t *testing.T) {
	f := func(r *Request, want int) {
		t.Helper()
		refused := errors.New("refused")
		dials := 0
		o := open(t, Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, refused
		}})
		_, err := o.RoundTrip(context.Background(), r)
		wantKind(t, err, Connect)
		if !errors.Is(err, refused) || dials != want || openCount(o) != 0 {
			t.Errorf("%s: got %d dials, %d slots in use and error %v, want %d and none", r.Method, dials, openCount(o), err, want)
		}
	}
	f(get("/"), 2)
	f(&Request{Method: "HEAD", Target: "/", Host: "h"}, 2)
	f(&Request{Method: "POST", Target: "/", Host: "h"}, 1)
	f(&Request{Method: "GET", Target: "/", Host: "h", Body: strings.NewReader("x"), ContentLength: 1}, 1)
}

func TestSecondDialCanSucceed(t *testing.T) {
	address := loopback(t, each(okWire))
	dials := 0
	o := open(t, Options{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if dials++; dials == 1 {
			return nil, errors.New("refused")
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}})
	wantBody(t, o, get("/"), "ok")
}

func TestDialTimeoutIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, Options{Dial: failing(nil), Settings: Settings{ConnectTimeout: 2 * time.Second}})
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		if e, _ := errors.AsType[*Error](err); !e.Timeout() || time.Since(begun) != 2*time.Second {
			t.Errorf("got error %v after %v, want a timeout after one ConnectTimeout", err, time.Since(begun))
		}
	})
}

// One request may have another time, and those behind it have that of the origin.
func TestRequestsHaveTimesOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, Options{Dial: failing(nil), Settings: Settings{ConnectTimeout: 2 * time.Second}})
		for _, own := range []time.Duration{0, time.Second, 9 * time.Second} {
			begun, r := time.Now(), get("/")
			r.Connect = own
			_, err := o.RoundTrip(t.Context(), r)
			wantKind(t, err, Connect)
			if d, want := time.Since(begun), cmp.Or(own, 2*time.Second); d != want {
				t.Errorf("to connect: ended after %v, want %v", d, want)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		pause := 4 * time.Second
		o := inMemory(t, Options{Settings: Settings{IdleTimeout: 3 * time.Second}}, func(_ int, p *peer) {
			for range 2 {
				p.request()
				p.say(lengthHead)
				time.Sleep(pause)
				p.say("hello world")
			}
			p.untilClosed()
		})
		patient := get("/")
		patient.Idle = 5 * time.Second
		if _, got, err := fetch(o, patient); got != "hello world" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		begun := time.Now()
		_, _, err := fetch(o, get("/")) // on the same connection
		wantKind(t, err, Timeout)
		if d := time.Since(begun); d != 3*time.Second {
			t.Errorf("between two reads: ended after %v, want 3s", d)
		}
	})
}

// An origin too slow for one request must not get two, also where the first
// connection was a used one.
func TestHangingOriginGetsOneTry(t *testing.T) {
	for _, warm := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			seen := make(chan int, 10)
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 7 * time.Second}}, func(n int, p *peer) {
				if warm {
					p.request()
					p.say(okWire)
				}
				p.request()
				seen <- n
				p.untilClosed()
			})
			if warm {
				wantBody(t, o, get("/"), "ok")
			}
			begun := time.Now()
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Timeout)
			if d := time.Since(begun); d != 7*time.Second || len(seen) != 1 {
				t.Errorf("warm %v: got %d tries in %v, want one in 7s", warm, len(seen), d)
			}
		})
	}
}
