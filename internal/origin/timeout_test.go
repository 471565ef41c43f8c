package origin

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrippedHeadEnds(t *testing.T) {
	f := func(name, head string, r *Request) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 10 * time.Second, IdleTimeout: 3 * time.Second}}, func(_ int, p *peer) {
				p.request()
				for _, b := range []byte(head) {
					if _, err := p.Write([]byte{b}); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			})
			begun := time.Now()
			_, err := o.RoundTrip(t.Context(), r)
			wantKind(t, err, Timeout)
			if d := time.Since(begun); d != 10*time.Second {
				t.Errorf("%s: ended after %v, want 10s", name, d)
			}
		})
	}
	post := func() *Request {
		return &Request{Method: "POST", Target: "/", Host: "h", Body: neverEnding{}, ContentLength: -1}
	}
	f("final head", lengthHead, get("/"))
	f("interim heads", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 3), get("/"))
	// While a body is being sent the time runs from the first byte of the head.
	f("final head during an upload", lengthHead, post())
}

// neverEnding is a body whose Read returns a byte a second.
type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return copy(p, "x"), nil
}

func TestBodyMayTakeAnyTimeButNotStandStill(t *testing.T) {
	f := func(head string, pieces []string, pause time.Duration, want string, wantErr bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: time.Second, IdleTimeout: 5 * time.Second}}, func(_ int, p *peer) {
				p.request()
				p.say(head)
				for _, piece := range pieces {
					time.Sleep(pause)
					p.say(piece)
				}
				p.untilClosed()
			})
			begun := time.Now()
			_, got, err := fetch(o, get("/"))
			if got != want || (err != nil) != wantErr {
				t.Errorf("pause %v: got %q and error %v, want %q", pause, got, err, want)
			}
			if wantErr {
				wantKind(t, err, Timeout)
				if d := time.Since(begun); d != 5*time.Second {
					t.Errorf("pause %v: ended after %v, want the idle timeout", pause, d)
				}
			}
		})
	}
	letters := strings.Split("hello world", "")
	f(lengthHead, letters, 4*time.Second, "hello world", false)
	f(lengthHead, letters, 6*time.Second, "", true)
	chunked := strings.SplitAfter(chunkedWire, "\n")
	f(chunkedHead, chunked, 4*time.Second, "hello world", false)
	f(chunkedHead, chunked, 6*time.Second, "", true)
	f("HTTP/1.1 200 OK\r\n\r\n", letters, 6*time.Second, "", true)
	// A whole body without its end stands still too.
	f(chunkedHead+"5\r\nhello\r\n0\r\n", nil, 0, "hello", true)
}

func TestContextEndsTheRequestWhereverItIs(t *testing.T) {
	cause := errors.New("the client left")
	f := func(name string, o Options, s script, r *Request) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			if o.Dial == nil {
				o.Dial = pipes(t, s)
			}
			origin := open(t, o)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			begun := time.Now()
			_, err := origin.RoundTrip(ctx, r)
			wantKind(t, err, Canceled)
			if d := time.Since(begun); !errors.Is(err, cause) || d != time.Second {
				t.Errorf("%s: got error %v after %v, want %v after 1s", name, err, d, cause)
			}
			if openCount(origin) != 0 {
				t.Errorf("%s: got %d slots in use, want none", name, openCount(origin))
			}
		})
	}
	silent := func(_ int, p *peer) { p.request(); p.untilClosed() }
	f("dialling", Options{Dial: failing(nil)}, nil, get("/"))
	f("before the head", Options{}, silent, get("/"))
	f("in the head", Options{}, func(_ int, p *peer) { p.request(); p.say("HTTP/1.1"); p.untilClosed() }, get("/"))
	f("between heads", Options{}, func(_ int, p *peer) { p.request(); p.say("HTTP/1.1 100 Continue\r\n\r\n"); p.untilClosed() }, get("/"))
	f("the origin reads nothing", Options{}, func(int, *peer) { time.Sleep(time.Minute) }, get("/"))
}

func TestContextEndsAnUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(_ int, p *peer) { p.untilClosed() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body, client := io.Pipe()
		r := post(body, -1)
		r.Interrupt = func() { client.CloseWithError(errors.New("interrupted")) }
		begun := time.Now()
		_, err := o.RoundTrip(ctx, r)
		wantKind(t, err, Canceled)
		if d := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || d != time.Second {
			t.Errorf("got error %v after %v, want %v after 1s", err, d, context.DeadlineExceeded)
		}
	})
}

func TestEndedContextSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, numbered)
		wantBody(t, o, get("/"), "0")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := o.RoundTrip(ctx, get("/"))
		wantKind(t, err, Canceled)
		wantBody(t, o, get("/"), "0") // no connection was spent on it
	})
}

func TestContextHasNoSayOverTheBody(t *testing.T) {
	o := start(t, Options{}, each(okWire))
	ctx, cancel := context.WithCancel(context.Background())
	res, err := o.RoundTrip(ctx, get("/"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if b, err := io.ReadAll(res.Body); string(b) != "ok" || err != nil {
		t.Errorf("got %q and error %v, want the body", b, err)
	}
	wantBody(t, o, get("/"), "ok")
}
