package origin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
)

// passedOn is one call of Request.Interim.
type passedOn struct {
	Status int
	Header field.List
}

// collect makes r note its interim responses in the list returned, which may be
// read when RoundTrip has returned.
func collect(r *Request) *[]passedOn {
	var got []passedOn
	r.Interim = func(status int, header field.List) { got = append(got, passedOn{status, header}) }
	return &got
}

const (
	hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
	final = lengthHead + "hello world"
)

func TestInterimResponsesArePassedOnInOrder(t *testing.T) {
	link := passedOn{103, field.List{{Name: "Link", Value: "</a.css>; rel=preload"}}}
	f := func(name, interim string, want []passedOn) {
		t.Helper()
		o := start(t, Options{}, each(interim+final))
		for _, method := range []string{"GET", "HEAD", "POST"} {
			r := &Request{Method: method, Target: "/", Host: "h"}
			if method == "POST" {
				r.Body, r.ContentLength = strings.NewReader("hello"), 5
			}
			got := collect(r)
			res, err := o.RoundTrip(t.Context(), r)
			if err != nil {
				t.Errorf("%s, %s: got error %v", name, method, err)
				continue
			}
			_ = res.Body.Close()
			if diff := cmp.Diff(want, *got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, method, diff)
			}
			if res.Status != 200 || res.Header.Has("Link") {
				t.Errorf("%s, %s: got final response %d %v, want 200 without the interim one's Link", name, method, res.Status, res.Header)
			}
		}
	}
	f("none", "", nil)
	f("hints", hints, []passedOn{link})
	f("no fields", "HTTP/1.1 102 Processing\r\n\r\n", []passedOn{{102, field.List{}}})
	f("several", "HTTP/1.1 102\r\n\r\n"+hints+"HTTP/1.1 199 Wait\r\nX-A: 1\r\nX-A: 2\r\n\r\n"+hints, []passedOn{
		{102, field.List{}}, link, {199, field.List{{Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}}}, link,
	})
	// 100 answers the Expect of a request of ours, and we send none.
	f("100 is not", "HTTP/1.1 100 Continue\r\nLink: </x>\r\n\r\n"+hints+"HTTP/1.1 100 Continue\r\n\r\n", []passedOn{link})
	f("hop-by-hop fields, which are the caller's to drop", "HTTP/1.1 103 x\r\nConnection: X-A\r\nX-A: 1\r\n\r\n", []passedOn{
		{103, field.List{{Name: "Connection", Value: "X-A"}, {Name: "X-A", Value: "1"}}},
	})
	f("without framing", "HTTP/1.1 103 x\r\nContent-Length: 0\r\nLink: </x>\r\nContent-Length: 0\r\n\r\n", []passedOn{
		{103, field.List{{Name: "Link", Value: "</x>"}}},
	})
	f("without coding", "HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\nLink: </x>\r\n\r\n", []passedOn{
		{103, field.List{{Name: "Link", Value: "</x>"}}},
	})
}

// TestInterimResponseIsPassedOnAtOnce: the origin goes on only when the caller
// has what came before.
func TestInterimResponseIsPassedOnAtOnce(t *testing.T) {
	had := make(chan struct{})
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		for range 3 {
			p.say(hints)
			<-had
		}
		p.say(final)
	})
	calls := 0
	r := get("/")
	r.Interim = func(int, field.List) {
		calls++
		had <- struct{}{}
	}
	wantBody(t, o, r, "hello world")
	if calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
}

func TestInterimResponsesHaveLimits(t *testing.T) {
	const bytes = 1 << 10
	f := func(name, interim string, wantCalls int, wantErr bool) {
		t.Helper()
		o := start(t, Options{MaxHeaderBytes: bytes}, each(interim+final))
		r := get("/")
		got := collect(r)
		res, err := o.RoundTrip(context.Background(), r)
		if wantErr {
			wantKind(t, err, Malformed)
		} else if err != nil {
			t.Errorf("%s: got error %v", name, err)
		}
		if err == nil {
			_ = res.Body.Close()
		}
		if len(*got) != wantCalls {
			t.Errorf("%s: got %d interim responses, want %d", name, len(*got), wantCalls)
		}
	}
	long := func(n int) string {
		const frame = "HTTP/1.1 103 x\r\nX: \r\n\r\n"
		return fmt.Sprintf("HTTP/1.1 103 x\r\nX: %s\r\n\r\n", strings.Repeat("y", n-len(frame)))
	}
	const continued = "HTTP/1.1 100 Continue\r\n\r\n"
	f("as many as are passed on", strings.Repeat(hints, MaxInterim), MaxInterim, false)
	f("one more", strings.Repeat(hints, MaxInterim+1), MaxInterim, false)
	f("many more", strings.Repeat(hints, 100*MaxInterim), MaxInterim, false)
	f("100, which counts for nothing", strings.Repeat(continued, 2*MaxInterim)+hints, 1, false)
	f("a head of the limit", long(bytes), 1, false)
	f("a head above it", long(bytes+1), 0, true)
	f("heads of the limit together", long(bytes/2)+long(bytes/2), 2, false)
	f("heads above it together", long(bytes/2)+long(bytes/2+1), 1, false)
	f("heads far above it together", strings.Repeat(long(bytes), 100), 1, false)
}

// progress is an interim response by which an origin reports how far an upload has come.
const progress = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 1024\r\n\r\n"

// An upload whose origin reported its progress by more than 16 interim responses got a 502, although the origin had done the
// work.
func TestAnUploadOfWhichTheOriginReportsTheProgressIsAnswered(t *testing.T) {
	const pieces, size = 200, 1 << 10
	o := start(t, Options{MaxHeaderBytes: 1 << 10}, func(_ int, p *peer) {
		for p.request() != "" {
			for range pieces {
				if _, err := io.CopyN(io.Discard, p.br, size); err != nil {
					return
				}
				p.say(progress)
			}
			p.say(final)
		}
	})
	for range 2 {
		r := post(strings.NewReader(strings.Repeat("x", pieces*size)), pieces*size)
		got := collect(r)
		wantBody(t, o, r, "hello world")
		if n := len(*got); n == 0 || n > MaxInterim || (*got)[0].Status != 104 {
			t.Errorf("got %d interim responses, want some, and at most %d", n, MaxInterim)
		}
	}
	if n := idleCount(o); n != 1 {
		t.Errorf("got %d idle connections, want the only one", n)
	}
}

// Interim responses without an end are no answer, however they come: one behind the other until they are too many bytes,
// or a few at a time until the time for the head is over. A request with a body has that time from its end on.
func TestInterimResponsesWithoutAnEndAreNoAnswer(t *testing.T) {
	f := func(name, head string, pause time.Duration, body io.Reader, want Kind) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second}}, func(_ int, p *peer) {
				go p.untilClosed()
				for {
					if _, err := io.WriteString(p, head); err != nil {
						return
					}
					time.Sleep(pause)
				}
			})
			r := &Request{Method: "POST", Target: "/", Host: "h", Body: body, ContentLength: 3}
			if body == nil {
				r = get("/")
			}
			got := collect(r)
			begun := time.Now()
			_, err := o.RoundTrip(t.Context(), r)
			wantKind(t, err, want)
			if d := time.Since(begun); d > 6*time.Second || len(*got) > MaxInterim {
				t.Errorf("%s: ended after %v and %d interim responses, want 5s, and at most %d", name, d, len(*got), MaxInterim)
			}
		})
	}
	long := "HTTP/1.1 103 Early Hints\r\nX: " + strings.Repeat("y", 60_000) + "\r\n\r\n"
	f("at once", long, 0, nil, Malformed)
	f("slowly", hints, 10*time.Millisecond, nil, Timeout)
	f("slowly, to an upload", progress, 10*time.Millisecond, strings.NewReader("abc"), Timeout)
}

func TestMalformedInterimResponseIsAnError(t *testing.T) {
	f := func(interim string, wantCalls int) {
		t.Helper()
		o := start(t, Options{}, each(interim+final))
		r := get("/")
		got := collect(r)
		_, err := o.RoundTrip(context.Background(), r)
		wantKind(t, err, Malformed)
		if len(*got) != wantCalls {
			t.Errorf("%q: got %d interim responses, want %d", interim, len(*got), wantCalls)
		}
	}
	f("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 0)
	f(hints+"HTTP/1.1 101 Switching Protocols\r\n\r\n", 1)
	f("HTTP/1.1 103 x\nLink: </x>\r\n\r\n", 0)
	f("HTTP/1.1 103 x\r\nLink: </x>\r\n folded\r\n\r\n", 0)
	f("HTTP/1.1 103 x\r\nLi nk: </x>\r\n\r\n", 0)
	f("HTTP/1.1 103 x\r\nContent-Length: x\r\n\r\n", 0)
	f("HTTP/1.1 103 x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 0)
	f("HTTP/1.1 099 x\r\n\r\n", 0)
}

// A connection that died after an interim response may have done its work: the
// request is not sent again, so nobody gets that response twice.
func TestInterimResponseEndsRepeating(t *testing.T) {
	var tries atomic.Int64
	o := start(t, Options{}, func(n int, p *peer) {
		for i := 0; p.request() != ""; i++ {
			tries.Add(1)
			if n == 0 && i == 1 {
				p.say(hints)
				return
			}
			p.say(final)
		}
	})
	wantBody(t, o, get("/"), "hello world")
	r := get("/")
	got := collect(r)
	_, err := o.RoundTrip(context.Background(), r)
	wantKind(t, err, Cut)
	if len(*got) != 1 || tries.Load() != 2 {
		t.Errorf("got %d interim responses and %d requests, want 1 and 2", len(*got), tries.Load())
	}
}

// Interim responses gain the origin no time, however long they go on, and the
// time that the caller takes for them is the origin's.
func TestInterimResponsesGainNoTime(t *testing.T) {
	f := func(name string, pause, take time.Duration, wantCalls int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := inMemory(t, Options{Settings: Settings{FirstByteTimeout: 5 * time.Second}}, func(_ int, p *peer) {
				p.request()
				for range 10 {
					p.say(hints)
					time.Sleep(pause)
				}
				p.untilClosed()
			})
			r := get("/")
			calls := 0
			r.Interim = func(int, field.List) {
				calls++
				time.Sleep(take)
			}
			begun := time.Now()
			_, err := o.RoundTrip(t.Context(), r)
			wantKind(t, err, Timeout)
			if d := time.Since(begun); d > 6*time.Second || calls != wantCalls {
				t.Errorf("%s: ended after %v and %d interim responses, want 5s, and %d", name, d, calls, wantCalls)
			}
		})
	}
	f("a slow origin", 1500*time.Millisecond, 0, 4)
	f("a slow caller", 0, 3*time.Second, 2)
}

// TestCancelDuringAnInterimResponse: the end of the caller's context ends the
// wait for the rest.
func TestCancelDuringAnInterimResponse(t *testing.T) {
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say(hints)
		p.untilClosed()
	})
	ctx, cancel := context.WithCancel(context.Background())
	r := get("/")
	r.Interim = func(int, field.List) { cancel() }
	_, err := o.RoundTrip(ctx, r)
	wantKind(t, err, Canceled)
}
