package origin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/chunked"
	"edgeproxy/internal/http/field"
)

func post(body io.Reader, length int64) *Request {
	return &Request{Method: "POST", Target: "/", Host: "h", Body: body, ContentLength: length}
}

// echo answers with the body it got, of the given length; -1: chunked.
func echo(length int64) script {
	return func(_ int, p *peer) {
		for p.request() != "" {
			var body io.Reader = io.LimitReader(p.br, length) //nolint:staticcheck,revive // the Reader below is another type
			if length < 0 {
				body = chunked.NewReader(p.br, trailerSection)
			}
			b, err := io.ReadAll(body)
			if err != nil {
				return
			}
			p.say(chunkedHead)
			if len(b) > 0 {
				p.say(strings.ToUpper(hex(len(b))) + "\r\n" + string(b) + "\r\n")
			}
			p.say("0\r\n\r\n")
		}
	}
}

func hex(n int) string {
	const digit = "0123456789abcdef"
	s := ""
	for ; n > 0; n /= 16 {
		s = digit[n%16:n%16+1] + s
	}
	return s
}

func TestUploadArrivesWhole(t *testing.T) {
	for _, size := range []int{0, 1, uploadBufferBytes - 1, uploadBufferBytes, uploadBufferBytes + 1, 3*uploadBufferBytes + 7} {
		body := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		for _, length := range []int64{int64(size), -1} {
			o := start(t, Options{}, echo(length))
			for name, r := range map[string]io.Reader{
				"at once":          strings.NewReader(body),
				"end with data":    iotest.DataErrReader(strings.NewReader(body)),
				"half of each ask": iotest.HalfReader(strings.NewReader(body)),
			} {
				if _, got, err := fetch(o, post(r, length)); got != body || err != nil {
					t.Errorf("%d bytes, length %d, %s: got %d bytes and error %v", size, length, name, len(got), err)
				}
			}
			if n := idleCount(o); n != 1 {
				t.Errorf("%d bytes, length %d: got %d idle connections, want the only one", size, length, n)
			}
		}
	}
}

func TestTrailersOfAnUpload(t *testing.T) {
	read := make(chan string, 1)
	o := start(t, Options{}, func(_ int, p *peer) {
		for p.request() != "" {
			c := chunked.NewReader(p.br, trailerSection)
			b, err := io.ReadAll(c)
			read <- fmt.Sprintf("%s %q %v", b, c.Trailers(), err)
			p.say(okWire)
		}
	})
	f := func(body, want string, trailers ...field.Field) {
		t.Helper()
		r := post(strings.NewReader(body), -1)
		r.Trailers = func() field.List { return trailers }
		if _, _, err := fetch(o, r); err != nil {
			t.Error(err)
		}
		if got := <-read; got != want {
			t.Errorf("got %.200s, want %.200s", got, want)
		}
	}
	f("abc", `abc [{"X-Sum" "1"} {"Y" ""} {"X-Sum" "2"}] <nil>`, field.Field{Name: "X-Sum", Value: "1"}, field.Field{Name: "Y"}, field.Field{Name: "X-Sum", Value: "2"})
	f("", ` [{"X-Sum" "1"}] <nil>`, field.Field{Name: "X-Sum", Value: "1"})
	f("abc", `abc [] <nil>`)
	long := strings.Repeat("v", 3000)
	f(strings.Repeat("b", uploadBufferBytes), strings.Repeat("b", uploadBufferBytes)+` [{"X-Sum" "`+long+`"}] <nil>`, field.Field{Name: "X-Sum", Value: long})
	if n := idleCount(o); n != 1 {
		t.Errorf("got %d idle connections, want the only one", n)
	}
}

// A trailer that cannot be sent must not leave a request that looks whole.
func TestTrailersThatWouldBeMoreAreNotSent(t *testing.T) {
	for _, x := range []field.Field{
		{Name: "Content-Length", Value: "3"},
		{Name: "transfer-encoding", Value: "chunked"},
		{Name: "Host", Value: "i"},
		{Name: "Trailer", Value: "X"},
		{Name: "Connection", Value: "close"},
		{Name: "TE", Value: "trailers"},
		{Name: "Upgrade", Value: "x"},
		{Name: "", Value: "x"},
		{Name: "X Y", Value: "x"},
		{Name: "X", Value: "a\r\n\r\nGET / HTTP/1.1"},
		{Name: "X\r\n", Value: ""},
		{Name: "X", Value: "\x00"},
	} {
		got := make(chan string, 1)
		o := start(t, Options{}, func(_ int, p *peer) {
			p.request()
			b, _ := io.ReadAll(p.br)
			got <- string(b)
		})
		r := post(strings.NewReader("abc"), -1)
		r.Trailers = func() field.List { return field.List{{Name: "A", Value: "b"}, x} }
		_, err := o.RoundTrip(t.Context(), r)
		wantKind(t, err, BadRequest)
		if b := <-got; strings.Contains(b, "0\r\n") {
			t.Errorf("%q: the origin got %q, want no whole body", x, b)
		}
	}
}

// A body that is not as announced must not be taken for whole by the origin, and
// the connection must not carry another request.
func TestBodyThatIsNotAsAnnounced(t *testing.T) {
	broken := errors.New("the client left")
	f := func(name string, body io.Reader, length int64, wantErr error) {
		t.Helper()
		got := make(chan string, 1)
		o := start(t, Options{}, func(_ int, p *peer) {
			p.request()
			b, _ := io.ReadAll(p.br)
			got <- string(b)
		})
		_, err := o.RoundTrip(t.Context(), post(body, length))
		wantKind(t, err, BadRequest)
		if wantErr != nil && !errors.Is(err, wantErr) {
			t.Errorf("%s: got error %v, want %v", name, err, wantErr)
		}
		if b := <-got; length >= 0 && int64(len(b)) >= length && length > 0 || strings.HasSuffix(b, "0\r\n\r\n") {
			t.Errorf("%s: the origin got %q, want no whole body", name, b)
		}
		if openCount(o) != 0 {
			t.Errorf("%s: got %d slots in use, want none", name, openCount(o))
		}
	}
	f("short", strings.NewReader("abc"), 4, io.ErrUnexpectedEOF)
	f("empty", strings.NewReader(""), 4, io.ErrUnexpectedEOF)
	f("long by one", strings.NewReader("abcde"), 4, nil)
	f("long by one, byte by byte", iotest.OneByteReader(strings.NewReader("abcde")), 4, nil)
	f("long by much", bytes.NewReader(make([]byte, 3*uploadBufferBytes)), uploadBufferBytes+5, nil)
	f("not empty", strings.NewReader("a"), 0, nil)
	f("broken", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 4, broken)
	f("broken at its end", io.MultiReader(strings.NewReader("abcd"), iotest.ErrReader(broken)), 4, broken)
	f("broken, chunked", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), -1, broken)
	f("a wrapped end is no end", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(&bodyError{io.EOF})), -1, nil)
	f("idling", idling{}, 4, io.ErrNoProgress)
}

type idling struct{}

func (idling) Read([]byte) (int, error) { return 0, nil }

// A panic is no fault of the client. It is noted, and ends this request alone.
func TestPanicOfABodyIsAFaultOfOurs(t *testing.T) {
	panics := rescue.NewCounter(slog.New(slog.DiscardHandler))
	o := start(t, Options{Panics: panics}, func(_ int, p *peer) { p.untilClosed() })
	_, err := o.RoundTrip(t.Context(), post(panicking{}, 4))
	wantKind(t, err, Fault)
	if openCount(o) != 0 || panics.Count() != 1 {
		t.Errorf("got %d slots in use and %d panics, want none and one", openCount(o), panics.Count())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("broken reader") }

// An origin that refuses an upload answers and may close without reading it. Its
// answer must arrive, although sending fails, and be it by a reset.
func TestEarlyRefusalOfALargeUploadArrives(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\n\r\ntoo big"
	for _, length := range []int64{1 << 30, -1} {
		for name, after := range map[string]func(*peer){"drains": (*peer).untilClosed, "closes at once": shut} {
			o := start(t, Options{}, func(_ int, p *peer) {
				p.request()
				p.say(refusal)
				after(p)
			})
			body := &endless{}
			res, got, err := fetch(o, post(body, length))
			if err != nil || res.Status != 413 || got != "too big" {
				t.Errorf("length %d, origin %s: got %v, body %q and error %v, want the refusal", length, name, res, got, err)
			}
			if body.reads++; idleCount(o) != 0 {
				t.Errorf("length %d, origin %s: got an idle connection, want none: the request is unfinished", length, name)
			}
		}
	}
}

// endless is a body without end. It has no lock: under -race, touching it beside
// RoundTrip would be reported.
type endless struct{ reads int }

func (e *endless) Read(p []byte) (int, error) {
	e.reads++
	return len(p), nil
}

func TestEarlyResponseInterruptsTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(_ int, p *peer) {
			p.request()
			time.Sleep(time.Second)
			p.say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
			p.untilClosed()
		})
		body, client := io.Pipe()
		interrupts := 0
		r := post(body, 100)
		r.Interrupt = func() {
			interrupts++
			body.CloseWithError(errors.New("interrupted"))
		}
		begun := time.Now()
		res, got, err := fetch(o, r)
		if err != nil || res.Status != 401 || got != "no" || time.Since(begun) != time.Second {
			t.Errorf("got %v, body %q and error %v after %v, want 401 after 1s", res, got, err, time.Since(begun))
		}
		if _, err := client.Write([]byte("x")); err == nil || interrupts != 1 || idleCount(o) != 0 {
			t.Errorf("got %d interrupts and %d idle connections, want 1 and none", interrupts, idleCount(o))
		}
	})
}

func TestWithoutInterruptTheBodyIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, func(_ int, p *peer) {
			p.request()
			time.Sleep(time.Second) // after it the body is being read
			p.say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
			p.untilClosed()
		})
		body, client := io.Pipe()
		time.AfterFunc(9*time.Second, func() { client.CloseWithError(errors.New("read deadline")) })
		begun := time.Now()
		res, err := o.RoundTrip(t.Context(), post(body, 100))
		if err != nil || res.Status != 401 || time.Since(begun) != 9*time.Second {
			t.Errorf("got %v and error %v after %v, want 401 after the body's own 9s", res, err, time.Since(begun))
		}
	})
}

// After the whole body is sent nothing is interrupted, and the connection is
// used again.
func TestResponseToAWholeUploadInterruptsNothing(t *testing.T) {
	o := start(t, Options{}, echo(5))
	for range 100 {
		r := post(strings.NewReader("hello"), 5)
		r.Interrupt = func() { t.Error("Interrupt was called") }
		wantBody(t, o, r, "hello")
	}
	if n := idleCount(o); n != 1 {
		t.Errorf("got %d idle connections, want 1", n)
	}
}

func TestSlowUploadHasNoLimitButItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second, IdleTimeout: 2 * time.Second}}, func(_ int, p *peer) {
			p.request()
			p.say("HTTP/1.1 100 Continue\r\n\r\n")
			b, err := io.ReadAll(chunked.NewReader(p.br, trailerSection))
			if err != nil || len(b) != 60 {
				return
			}
			time.Sleep(4 * time.Second)
			p.say(okWire)
			p.untilClosed()
		})
		begun := time.Now()
		wantBody(t, o, post(io.LimitReader(neverEnding{}, 60), -1), "ok")
		if d := time.Since(begun); d != 64*time.Second {
			t.Errorf("took %v, want 60s of upload and 4s of thought", d)
		}
	})
}

func TestSilenceAfterTheUploadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second}}, func(_ int, p *peer) { p.untilClosed() })
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), post(io.LimitReader(neverEnding{}, 60), -1))
		wantKind(t, err, Timeout)
		if d := time.Since(begun); d != 65*time.Second {
			t.Errorf("ended after %v, want 60s of upload and FirstByteTimeout", d)
		}
	})
}

// An origin that reads no more has IdleTimeout to take a write, and then
// FirstByteTimeout to say why.
func TestStalledUpload(t *testing.T) {
	f := func(answer string, want Kind) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second, IdleTimeout: 2 * time.Second}}, func(_ int, p *peer) {
				p.request()
				time.Sleep(4 * time.Second)
				p.say(answer)
				time.Sleep(time.Minute)
			})
			begun := time.Now()
			res, err := o.RoundTrip(t.Context(), post(&endless{}, -1))
			if want == 0 {
				if err != nil || res.Status != 503 || time.Since(begun) != 4*time.Second {
					t.Errorf("got %v and error %v after %v, want 503 after 4s", res, err, time.Since(begun))
				}
				return
			}
			wantKind(t, err, want)
			if d := time.Since(begun); d != 7*time.Second {
				t.Errorf("ended after %v, want 2s and 5s", d)
			}
		})
	}
	f("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 0)
	f("", Timeout)
}

func TestOriginThatClosesDuringTheUploadIsACut(t *testing.T) {
	o := start(t, Options{}, func(_ int, p *peer) { p.request() })
	_, err := o.RoundTrip(t.Context(), post(&endless{}, -1))
	wantKind(t, err, Cut)
	if !errors.Is(err, io.ErrUnexpectedEOF) || openCount(o) != 0 {
		t.Errorf("got %d slots in use and error %v, want none and %v", openCount(o), err, io.ErrUnexpectedEOF)
	}
}

// Once the origin has answered, a write that it does not take is not waited for,
// be it under way or still to come.
func TestEarlyResponseEndsAWriteThatWaits(t *testing.T) {
	f := func(name string, body io.Reader, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{IdleTimeout: time.Hour}}, func(_ int, p *peer) {
				p.request()
				time.Sleep(time.Second)
				p.say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
				time.Sleep(time.Minute)
			})
			begun := time.Now()
			res, err := o.RoundTrip(t.Context(), post(body, -1))
			if d := time.Since(begun); err != nil || res.Status != 401 || d != want {
				t.Errorf("%s: got %v and error %v after %v, want 401 after %v", name, res, err, d, want)
			}
		})
	}
	f("under way", &endless{}, time.Second)
	f("still to come", slow{}, 2*time.Second)
}

// slow is a body whose Read takes two seconds and cannot be interrupted.
type slow struct{}

func (slow) Read(p []byte) (int, error) {
	time.Sleep(2 * time.Second)
	return len(p), nil
}

func TestInterimResponseAfterTheUploadGainsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second}}, func(_ int, p *peer) {
			p.request()
			_, _ = io.CopyN(io.Discard, p.br, 5)
			time.Sleep(3 * time.Second)
			p.say("HTTP/1.1 100 Continue\r\n\r\n")
			p.untilClosed()
		})
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), post(strings.NewReader("hello"), 5))
		wantKind(t, err, Timeout)
		if d := time.Since(begun); d != 5*time.Second {
			t.Errorf("ended after %v, want 5s", d)
		}
	})
}

// A request whose head is all of it is whole once the head is sent, so the end
// of its body is looked for before.
func TestEmptyUploadIsWholeWithItsHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{}, each(okWire))
		r := post(slowEnd{}, 0)
		r.Interrupt = func() { t.Error("Interrupt was called") }
		wantBody(t, o, r, "ok")
		if n := idleCount(o); n != 1 {
			t.Errorf("got %d idle connections, want 1", n)
		}
	})
}

// slowEnd is an empty body whose end takes a second to show.
type slowEnd struct{}

func (slowEnd) Read([]byte) (int, error) {
	time.Sleep(time.Second)
	return 0, io.EOF
}
