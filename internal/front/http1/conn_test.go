package http1

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// The times of the servers here.
const (
	headTime = 10 * time.Second
	idleTime = time.Minute
)

// plain answers each request with its target.
func plain(r *message.Request, a *message.Answer) {
	a.Status, a.Length = http.StatusOK, int64(len(r.Target))
	a.Say(r.Target)
}

// movedConn counts how often the deadline of its reads was moved.
type movedConn struct {
	net.Conn
	moved int
}

func (c *movedConn) SetReadDeadline(t time.Time) error {
	c.moved++
	return c.Conn.SetReadDeadline(t)
}

// served has f talk to a server of e in a bubble of virtual time, and returns how often the
// deadline of its connection was moved.
func served(t *testing.T, e engine, f func(t *testing.T, c net.Conn, r *bufio.Reader)) (moved int) {
	t.Helper()
	return servedBy(t, e, f)
}

// servedBy is served for any engine.
func servedBy(t *testing.T, e message.Engine, f func(t *testing.T, c net.Conn, r *bufio.Reader)) (moved int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(e, 0)
		s.o.HeaderTimeout, s.o.KeepaliveTimeout = headTime, idleTime
		ours, theirs := net.Pipe()
		counted := &movedConn{Conn: theirs}
		var serving sync.WaitGroup
		serving.Go(func() {
			s.newConn(counted).serve()
			_ = theirs.Close()
		})
		f(t, ours, bufio.NewReader(ours))
		_ = ours.Close()
		serving.Wait()
		moved = counted.moved
	})
	return moved
}

// A way is what the head of a request has besides, so that it is answered by the loop here, or by
// fasthttp.
type way string

const (
	byLoop     way = ""
	byFasthttp way = "Connection: keep-alive, x\r\n"
)

var ways = map[string]way{"by the loop": byLoop, "by fasthttp": byFasthttp}

// get is a request that goes this way.
func (w way) get(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + string(w) + "\r\n"
}

// bothWays has f play each way.
func bothWays(t *testing.T, f func(t *testing.T, w way)) {
	t.Helper()
	for name, w := range ways {
		t.Run(name, func(t *testing.T) { f(t, w) })
	}
}

// asks asks for something and reads the answer.
func (w way) asks(t *testing.T, c net.Conn, r *bufio.Reader) {
	t.Helper()
	go func() { _, _ = io.WriteString(c, w.get("/a")) }()
	if got, err := heard(r); got != "200 /a" || err != nil {
		t.Fatalf("got %q and error %v", got, err)
	}
}

// TestEachPipelinedRequestGetsItsAnswer: conn sends an answer where fasthttp writes an empty one.
// If fasthttp wrote several at once, all but the last would be lost.
func TestEachPipelinedRequestGetsItsAnswer(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		served(t, plain, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			targets := []string{"/a", "/bb", "/ccc", "/dddd"}
			go func() {
				var all strings.Builder
				for _, target := range targets {
					all.WriteString(w.get(target))
				}
				_, _ = io.WriteString(c, all.String())
			}()
			_ = c.SetReadDeadline(time.Now().Add(headTime / 2))
			for _, target := range targets {
				if got, err := heard(r); got != "200 "+target || err != nil {
					t.Fatalf("%s: got %q and error %v", target, got, err)
				}
			}
		})
	})
}

// TestDeadlineOfReadsMovesOnlyWhenItHasCome: it was moved twice in each request, which took more
// time than to read the request.
func TestDeadlineOfReadsMovesOnlyWhenItHasCome(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		moved := served(t, plain, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			for range 100 {
				w.asks(t, c, r)
				time.Sleep(time.Second)
			}
		})
		if moved < 1 || moved > 5 {
			t.Errorf("moved %d times in 100 requests within 100 seconds, want 1 to 5", moved)
		}
	})
}

func TestConnectionEndsWhenItHasBeenIdle(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		f := func(name string, requests int, pause time.Duration) {
			t.Helper()
			served(t, plain, func(t *testing.T, c net.Conn, r *bufio.Reader) {
				for range requests {
					time.Sleep(pause)
					w.asks(t, c, r)
				}
				began := time.Now()
				want := idleTime
				if requests == 0 {
					want = headTime
				}
				if b, err := io.ReadAll(r); len(b) > 0 || err != nil {
					t.Errorf("%s: got %q and error %v, want the end", name, b, err)
				}
				if got := time.Since(began); got != want {
					t.Errorf("%s: ended after %v, want %v", name, got, want)
				}
			})
		}
		f("no request", 0, 0)
		f("one", 1, 0)
		f("one, late", 1, headTime-time.Millisecond)
		f("many", 30, 7*time.Second)
	})
}

func TestSlowHeadEndsInItsTime(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		f := func(name string, requests int, pause time.Duration) {
			t.Helper()
			served(t, plain, func(t *testing.T, c net.Conn, r *bufio.Reader) {
				for range requests {
					w.asks(t, c, r)
					time.Sleep(pause)
				}
				began := time.Now()
				var writing sync.WaitGroup
				defer writing.Wait()
				defer c.Close()
				writing.Go(func() {
					for _, b := range strings.TrimSuffix(w.get("/"), "\r\n") + "X: xxxxxxxxxx" { // a byte a second, never whole
						if _, err := c.Write([]byte(string(b))); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				got, err := heard(r)
				if !strings.HasPrefix(got, "200 ") || err != nil { // the target, which is not known
					t.Errorf("%s: got %q and error %v, want an answer", name, got, err)
				}
				if got := time.Since(began); got != headTime {
					t.Errorf("%s: ended after %v, want %v", name, got, headTime)
				}
			})
		}
		f("of the first request", 0, 0)
		f("of the second", 1, 0)
		f("after a pause", 1, 45*time.Second)
		f("of the last of many", 20, 7*time.Second)
	})
}

// TestDeadlineOfABodyIsThatOfTheEngine: one that comes before the deadline below, and one behind.
func TestDeadlineOfABodyIsThatOfTheEngine(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) { deadlineOfABody(t, w) })
}

func deadlineOfABody(t *testing.T, w way) {
	t.Helper()
	for _, patience := range []time.Duration{time.Second, headTime + time.Second, 3 * idleTime} {
		var took time.Duration
		var failed error
		slow := func(r *message.Request, a *message.Answer) {
			began := time.Now()
			_ = r.Deadlines.SetReadDeadline(began.Add(patience))
			b := make([]byte, 10)
			for failed == nil {
				_, failed = r.Body.Read(b)
			}
			took = time.Since(began)
			a.Status, a.Length, a.Last = http.StatusRequestTimeout, 0, true
		}
		served(t, slow, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			go func() {
				_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\n"+string(w)+"Content-Length: 5\r\n\r\nab")
			}()
			if got, err := heard(r); got != "408 " || err != nil {
				t.Errorf("got %q and error %v, want 408", got, err)
			}
		})
		if took != patience || !errors.Is(failed, os.ErrDeadlineExceeded) {
			t.Errorf("reading ended after %v with %v, want %v", took, failed, patience)
		}
	}
}

// trickle is content whose pieces come one by one, each when the one before was heard.
type trickle struct {
	pieces []string
	heard  chan struct{}
	sent   int
}

func (c *trickle) Read(p []byte) (int, error) {
	if c.sent > 0 {
		<-c.heard
	}
	if c.sent == len(c.pieces) {
		return 0, io.EOF
	}
	c.sent++
	return copy(p, c.pieces[c.sent-1]), nil
}

func (*trickle) Bytes() net.Buffers    { return nil }
func (*trickle) Next() ([]byte, error) { return nil, io.ErrNoProgress }
func (*trickle) Trailers() field.List  { return nil }
func (*trickle) Close() error          { return nil }

// TestPiecesOfKnownLengthAreSentAtOnce: on a connection that is no io.ReaderFrom, as those of TLS, fasthttp
// collected 8 KiB of them first.
func TestPiecesOfKnownLengthAreSentAtOnce(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		content := &trickle{pieces: []string{"first", "second"}, heard: make(chan struct{})}
		served(t, func(_ *message.Request, a *message.Answer) {
			a.Status, a.Length, a.Content = http.StatusOK, int64(len("firstsecond")), content
		}, func(t *testing.T, c net.Conn, r *bufio.Reader) {
			content.heard = make(chan struct{}) // a channel of this bubble
			go func() { _, _ = io.WriteString(c, w.get("/")) }()
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(headTime))
			for _, want := range content.pieces {
				b := make([]byte, len(want))
				if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != want {
					t.Fatalf("got %q and error %v, want %q", b, err, want)
				}
				content.heard <- struct{}{}
			}
		})
	})
}

// deafConn takes deadlines, and has another one set while it takes the first.
type deafConn struct {
	net.Conn
	last time.Time
	then func()
}

func (c *deafConn) SetReadDeadline(t time.Time) error {
	c.last = t
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return nil
}

// A limit that another goroutine sets sees the deadline of before, which is no later, and leaves
// it to the read that is about to move it. That read had looked at the limit of before, and
// moved the deadline to that: it went on too long.
func TestALimitSetWhileTheDeadlineMovesIsKept(t *testing.T) {
	s := serverOf(engine(nil), 0)
	below := &deafConn{}
	c := s.newConn(below)
	c.socketDeadline.Store(s.clock() - 1) // it has come
	c.deadline.Store(s.clock() + int64(time.Hour))
	earlier := s.clock() + int64(time.Minute)
	below.then = func() { c.deadline.Store(earlier) }
	if !c.extendDeadline() {
		t.Fatal("no time is left")
	}
	if armed := c.socketDeadline.Load(); armed != earlier || !below.last.Equal(s.time(earlier)) {
		t.Fatalf("reads end at %v (%d), want %v", below.last, armed, s.time(earlier))
	}
}
