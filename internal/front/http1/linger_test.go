package http1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/http/message"
)

// refusing refuses each request before its body, and ends the connection.
var refusing = engine(func(r *message.Request, a *message.Answer) {
	a.Status, a.Last = http.StatusRequestEntityTooLarge, true
	if r.Fault != nil {
		a.Status = r.Fault.Status
	}
	a.Say([]byte("no"))
})

// halfClosing is an end of a pipe that can be closed for writing alone, as far as the server sees.
type halfClosing struct {
	net.Conn
	closed bool
}

func (c *halfClosing) CloseWrite() error {
	c.closed = true
	return nil
}

// lingers returns how long a connection is open after the answer to a request, and whether its answers ended before that.
// after is what the client does then.
func lingers(t *testing.T, request string, after func(s *Server, c net.Conn)) (open time.Duration, half bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(refusing, 0)
		l := newPipes()
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		ours, theirs := net.Pipe()
		theirs = &halfClosing{Conn: theirs}
		l.come <- theirs
		go func() { _, _ = io.WriteString(ours, request) }()
		if got, err := heard(bufio.NewReader(ours)); got != "413 no" || err != nil {
			t.Errorf("got %q and error %v", got, err)
		}
		begun := time.Now()
		var rest sync.WaitGroup
		rest.Go(func() { after(s, ours) })
		_, err := ours.Read(make([]byte, 1))
		if err == nil {
			t.Error("got bytes after the answer")
		}
		open = time.Since(begun)
		_ = ours.Close()
		rest.Wait()
		_ = s.Shutdown(context.Background())
		if err := <-served; err != nil {
			t.Error(err)
		}
		half = theirs.(*halfClosing).closed
	})
	return open, half
}

func TestLingeringEnds(t *testing.T) {
	const unread = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nx"
	f := func(name, request string, after func(s *Server, c net.Conn), want time.Duration, wantHalf bool) {
		t.Helper()
		open, half := lingers(t, request, after)
		if open != want || half != wantHalf {
			t.Errorf("%s: closed after %v, first for writing: %t; want %v, %t", name, open, half, want, wantHalf)
		}
	}
	silent := func(*Server, net.Conn) {}
	f("a client that sends nothing", unread, silent, lingerIdle, true)
	f("the same by fasthttp", strings.Replace(unread, "Content-Length", string(byFasthttp)+"Content-Length", 1), silent, lingerIdle, true)
	f("one in the middle of chunks", chunkedHead+"5\r\nhe", silent, lingerIdle, true)
	f("a client that goes on for long", unread, func(_ *Server, c net.Conn) {
		for {
			time.Sleep(time.Second)
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
		}
	}, lingerTime, true)
	f("a client that leaves", unread, func(_ *Server, c net.Conn) { time.Sleep(time.Second); _ = c.Close() }, time.Second, true)
	f("a shutdown", unread, func(s *Server, _ net.Conn) { time.Sleep(time.Second); _ = s.Shutdown(context.Background()) }, time.Second, true)
	f("a request that was read whole", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", silent, 0, false)
	f("an upload that was read whole", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", silent, 0, false)
	f("a request that fasthttp has read whole", byFasthttp.get("/"), silent, 0, false)
}

// An answer that ends with its connection and breaks has to end with a reset. Lingering would end it like a whole one.
func TestABrokenAnswerIsNotEndedByLingering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(engine(func(r *message.Request, a *message.Answer) {
			a.Status = http.StatusOK
			if string(r.Target) == "/whole" { // its body stays unread, and the connection goes on
				a.Say([]byte("ok"))
				return
			}
			a.Length, a.Content = -1, &piecewise{pieces: []string{"begun"}, failed: io.ErrUnexpectedEOF}
		}), 0)
		ours, theirs := net.Pipe()
		half := &halfClosing{Conn: theirs}
		var serving sync.WaitGroup
		serving.Go(func() { s.newConn(half).serve() })
		go func() {
			_, _ = io.WriteString(ours, "POST /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /broken HTTP/1.0\r\nHost: h\r\n\r\n")
		}()
		got, _ := io.ReadAll(ours)
		serving.Wait()
		synctest.Wait()
		if !strings.HasSuffix(string(got), "begun") || half.closed {
			t.Errorf("got %q, closed for writing: %t; want an answer that breaks", got, half.closed)
		}
	})
}
