package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/route/setting"
)

func TestInterimResponseIsWrittenAsItIs(t *testing.T) {
	f := func(status int, header field.List, want string) {
		t.Helper()
		if got := string(appendInterim(nil, status, header)); got != want {
			t.Errorf("%d %v: got %q, want %q", status, header, got, want)
		}
	}
	f(102, nil, "HTTP/1.1 102 Processing\r\n\r\n")
	f(199, nil, "HTTP/1.1 199 \r\n\r\n") // not a name that somebody made up
	f(103, field.List{{Name: "Link", Value: "</a>"}, {Name: "X-A", Value: ""}, {Name: "Link", Value: "</b>"}},
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-A: \r\nLink: </b>\r\n\r\n")
}

// engine answers each request with what it does.
type engine func(r *message.Request, a *message.Answer)

// Begin implements message.Engine.
func (e engine) Begin(r *message.Request, a *message.Answer) message.Pending {
	return pending(func() { e(r, a) })
}

// Expect implements message.Engine.
func (engine) Expect(*message.Request, *message.Answer) bool { return true }

type pending func()

// Finish implements message.Pending.
func (p pending) Finish() { p() }

// serverOf is a server whose requests e answers.
func serverOf(e message.Engine, writeIdleTimeout time.Duration) *Server {
	return New(Options{
		Engine: e, FrontLimits: setting.FrontLimits{HeaderBytes: 16 << 10, HeaderTimeout: time.Minute, KeepaliveTimeout: time.Minute}, WriteIdleTimeout: writeIdleTimeout,
		Panics: rescue.NewCounter(slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler),
	})
}

// hint tells what every test here tells.
func hint(r *message.Request) {
	r.Interim(103, field.List{{Name: "Link", Value: "</a>"}, {Name: "Via", Value: "1.1 edge"}})
}

// hinting tells each client as far as it may, and then answers with the target.
func hinting(r *message.Request, a *message.Answer) {
	if r.Interim != nil {
		hint(r)
		hint(r)
	}
	a.Status, a.Length = http.StatusOK, int64(len(r.Target))
	a.Say(r.Target)
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
	f := func(name string, together bool, version string, want ...string) {
		t.Helper()
		ask := func(target string) string {
			if version == "by fasthttp" {
				return byFasthttp.get(target)
			}
			return "GET " + target + " HTTP/" + version + "\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"
		}
		served(t, hinting, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			if together {
				go func() { _, _ = io.WriteString(c, ask("/0")+ask("/1")+ask("/2")) }()
			}
			for i, want := range want {
				if !together {
					go func() { _, _ = io.WriteString(c, ask(fmt.Sprintf("/%d", i))) }()
				}
				if got, err := heard(r); got != want || err != nil {
					t.Errorf("%s, answer %d: got %q and error %v, want %q", name, i, got, err, want)
				}
			}
		})
	}
	const first, second, third = "103 103 200 /0", "103 103 200 /1", "103 103 200 /2"
	f("one by one", false, "1.1", first, second, third)
	f("pipelined", true, "1.1", first, second, third)
	f("one by one", false, "by fasthttp", first, second, third)
	f("pipelined", true, "by fasthttp", first, second, third)
	f("HTTP/1.0", false, "1.0", "200 /0", "200 /1", "200 /2")
}

// TestClientThatDoesNotTakeAnInterimResponse gets its answer whole, or its
// connection closed where it has a part of the interim response already, and holds
// nothing up for longer than interimWait.
func TestClientThatDoesNotTakeAnInterimResponse(t *testing.T) {
	const whole = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nVia: 1.1 edge\r\n\r\n"
	play := func(name string, w way, writeTimeout time.Duration, take int, wantHeard string, wantErr error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			var serving sync.WaitGroup
			s := serverOf(engine(hinting), writeTimeout) // 0: nobody else sets a deadline anew
			serving.Go(func() { s.newConn(theirs).serve() })
			_, _ = io.WriteString(ours, w.get("/0"))
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
	f := func(name string, writeTimeout time.Duration, take int, wantHeard string, wantErr error) {
		t.Helper()
		for by, w := range ways {
			play(name+", "+by, w, writeTimeout, take, wantHeard, wantErr)
		}
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
	turn := newTurn(serverOf(nil, 0))
	turn.request.Conn, turn.request.Interim = theirs, turn.tell
	hint(&turn.request)
	if !turn.mute {
		t.Error("got no end of telling, want one")
	}
	hint(&turn.request)
}
