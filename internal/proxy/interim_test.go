package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
)

func TestInterimResponseIsForwardedWithoutWhatEndsHere(t *testing.T) {
	f := func(status int, header field.List, want string) {
		t.Helper()
		if got := string(appendInterim(nil, status, header, "1.1 edge")); got != want {
			t.Errorf("%d %v: got %q, want %q", status, header, got, want)
		}
	}
	const via = "Via: 1.1 edge\r\n\r\n"
	f(102, nil, "HTTP/1.1 102 Processing\r\n"+via)
	f(199, nil, "HTTP/1.1 199 \r\n"+via) // not a name that somebody made up
	f(103, field.List{{Name: "Link", Value: "</a>"}, {Name: "X-A", Value: ""}, {Name: "Link", Value: "</b>"}},
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-A: \r\nLink: </b>\r\n"+via)
	dropped := field.List{
		{Name: "Connection", Value: "close, x-a"},
		{Name: "X-A", Value: "1"},
		{Name: "Keep-Alive", Value: "timeout=5"},
		{Name: "Upgrade", Value: "h2c"},
		{Name: "Surrogate-Key", Value: "k"},
		{Name: "Cache-Tag", Value: "t"},
	}
	f(103, append(dropped, field.Field{Name: "Via", Value: "1.1 origin"}), "HTTP/1.1 103 Early Hints\r\nVia: 1.1 origin\r\n"+via)
}

// hint tells what every test here tells.
func hint(t tell) { t(103, field.List{{Name: "Link", Value: "</a>"}}) }

// hinting is a server that tells each client as far as it may, and then answers
// with the target. flushed says whether it sends off each answer by itself.
func hinting(flushed bool) *fasthttp.Server {
	p := &Proxy{via: "1.1 edge"}
	p.AnswersFlushed = flushed
	return &fasthttp.Server{
		NoDefaultDate: true, NoDefaultServerHeader: true, ReduceMemoryUsage: flushed,
		Handler: func(ctx *fasthttp.RequestCtx) {
			if t := p.teller(&exchange{ctx: ctx}); t != nil {
				hint(t)
				hint(t)
			}
			ctx.SetBody(ctx.RequestURI())
		},
	}
}

// heard is what a client got up to an answer: the statuses and the body.
func heard(r *bufio.Reader) (string, error) {
	var got strings.Builder
	for {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return got.String(), err
		}
		fmt.Fprint(&got, res.StatusCode, " ")
		if res.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(res.Body)
		return got.String() + string(body), err
	}
}

// TestInterimResponseNeverOvertakesAnAnswer: two requests in one write. The first
// answer may lie in fasthttp's buffer when the second request is handled.
func TestInterimResponseNeverOvertakesAnAnswer(t *testing.T) {
	f := func(name string, flushed, together bool, version string, want ...string) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var serving sync.WaitGroup
		s := hinting(flushed)
		serving.Go(func() { _ = s.Serve(l) })
		defer serving.Wait()
		defer func() { _ = s.Shutdown() }()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(now().Add(30 * time.Second))
		ask := func(target string) string {
			return "GET " + target + " HTTP/" + version + "\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"
		}
		r := bufio.NewReader(c)
		if together {
			_, _ = io.WriteString(c, ask("/0")+ask("/1")+ask("/2"))
		}
		for i, want := range want {
			if !together {
				_, _ = io.WriteString(c, ask(fmt.Sprintf("/%d", i)))
			}
			if got, err := heard(r); got != want || err != nil {
				t.Errorf("%s, answer %d: got %q and error %v, want %q", name, i, got, err, want)
			}
		}
	}
	const first, second, third = "103 103 200 /0", "103 103 200 /1", "103 103 200 /2"
	f("one by one, flushed", true, false, "1.1", first, second, third)
	f("pipelined, flushed", true, true, "1.1", first, second, third)
	f("one by one, perhaps kept back", false, false, "1.1", first, "200 /1", "200 /2")
	f("pipelined, perhaps kept back", false, true, "1.1", first, "200 /1", "200 /2")
	f("HTTP/1.0", true, false, "1.0", "200 /0", "200 /1", "200 /2")
}

// TestClientThatDoesNotTakeAnInterimResponse gets its answer whole, or its
// connection closed where it has a part of the interim response already, and holds
// nothing up for longer than interimWait.
func TestClientThatDoesNotTakeAnInterimResponse(t *testing.T) {
	const whole = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nVia: 1.1 edge\r\n\r\n"
	f := func(name string, writeTimeout time.Duration, take int, wantHeard string, wantErr error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			var serving sync.WaitGroup
			s := hinting(true)
			s.WriteTimeout = writeTimeout // 0: nobody else sets a deadline anew
			serving.Go(func() { _ = s.ServeConn(theirs) })
			_, _ = io.WriteString(ours, "GET /0 HTTP/1.1\r\nHost: h\r\n\r\n")
			begun := time.Now()
			taken := make([]byte, take)
			if _, err := io.ReadFull(ours, taken); err != nil || string(taken) != whole[:take] {
				t.Errorf("%s: took %q and error %v, want %q", name, taken, err, whole[:take])
			}
			time.Sleep(interimWait + time.Millisecond)
			if got, err := heard(bufio.NewReader(ours)); got != wantHeard || !errors.Is(err, wantErr) {
				t.Errorf("%s: then got %q and error %v, want %q and %v", name, got, err, wantHeard, wantErr)
			}
			if d := time.Since(begun); d > interimWait+time.Millisecond {
				t.Errorf("%s: took %v, want one %v", name, d, interimWait)
			}
			_ = ours.Close()
			serving.Wait()
		})
	}
	for _, writeTimeout := range []time.Duration{0, time.Minute} {
		f("nothing", writeTimeout, 0, "200 /0", nil)
		f("a byte", writeTimeout, 1, "", io.ErrUnexpectedEOF)
		f("all but a byte", writeTimeout, len(whole)-1, "", io.ErrUnexpectedEOF)
		f("one, and not the next", writeTimeout, len(whole), "200 /0", nil)
	}
}

func TestClientThatIsGoneIsToldNothing(t *testing.T) {
	ours, theirs := net.Pipe()
	_ = ours.Close()
	h := &herald{ctx: &fasthttp.RequestCtx{}}
	h.ctx.Init2(theirs, nil, false)
	hint(h.tell)
	if !h.mute {
		t.Error("got no end of telling, want one")
	}
	hint(h.tell)
}

// TestInterimResponsesComeThroughAFlightInOrder, all of them before relay returns.
func TestInterimResponsesComeThroughAFlightInOrder(t *testing.T) {
	var got, want []int
	r := &origin.Request{}
	t1 := func(status int, header field.List) {
		if len(header) != 1 || header[0].Value != fmt.Sprint(status) {
			t.Errorf("got %d with header %v", status, header)
		}
		got = append(got, status)
	}
	c := handOver(r, t1)
	go func() {
		defer c.end()
		for status := 102; status < 102+origin.MaxInterim; status++ {
			r.Interim(status, field.List{{Name: "X", Value: fmt.Sprint(status)}})
		}
	}()
	c.relay(t1, open, nil)
	for status := 102; status < 102+origin.MaxInterim; status++ {
		want = append(want, status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// open says that nobody has a header yet.
func open() <-chan struct{} { return make(chan struct{}) }

// TestFetchNeverWaitsForAClient: a leader that takes nothing misses what finds no
// room.
func TestFetchNeverWaitsForAClient(t *testing.T) {
	told := 0
	count := func(int, field.List) { told++ }
	r := &origin.Request{}
	c := handOver(r, count)
	for range 3 * origin.MaxInterim {
		r.Interim(102, nil)
	}
	c.end()
	c.relay(count, open, nil)
	if told != origin.MaxInterim {
		t.Errorf("told %d, want %d", told, origin.MaxInterim)
	}
}

func TestNobodyToTell(t *testing.T) {
	r := &origin.Request{}
	c := handOver(r, nil)
	if r.Interim != nil {
		t.Error("got interim responses asked for, want them dropped by the origin room")
	}
	c.end()
	c.relay(nil, open, nil) // would wait for ever
}
