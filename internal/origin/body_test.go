package origin

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// cutEverywhere serves wire after head, cut after n bytes on connection n, and
// checks that every cut is reported, and every connection used once.
func cutEverywhere(t *testing.T, head, wire, body string, end func(p *peer)) {
	t.Helper()
	o := start(t, Options{}, func(n int, p *peer) {
		p.request()
		p.say(head + wire[:min(n, len(wire))])
		end(p)
	})
	for cut := range len(wire) {
		_, got, err := fetch(o, get("/"))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(body, got) {
			t.Errorf("cut at %d: got %q and error %v, want %v", cut, got, err, io.ErrUnexpectedEOF)
		}
		wantKind(t, err, Cut)
		if n := idleCount(o); n != 0 {
			t.Errorf("cut at %d: got %d idle connections, want none", cut, n)
		}
	}
	if _, got, err := fetch(o, get("/")); got != body || err != nil {
		t.Errorf("uncut: got %q and error %v, want %q", got, err, body)
	}
}

func shut(*peer) {}

// reset makes the end of the connection a reset instead of an orderly end, once
// the client has what was sent before.
func reset(p *peer) {
	if c, ok := p.Conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
}

const (
	lengthHead  = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"
	chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunkedWire = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"
)

func TestCutLengthBodyIsNeverWhole(t *testing.T) {
	cutEverywhere(t, lengthHead, "hello world", "hello world", shut)
}

func TestCutChunkedBodyIsNeverWhole(t *testing.T) {
	cutEverywhere(t, chunkedHead, chunkedWire, "hello world", shut)
}

func TestResetIsACut(t *testing.T) {
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say(chunkedHead + "5\r\nhello\r\n")
		p.request() // the client asks again once it has read that
		reset(p)
	})
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(res.Body, b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(res.Body.c.nc, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_, err = res.Body.Read(b)
	wantKind(t, err, Cut)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v, want one that is %v", err, io.ErrUnexpectedEOF)
	}
}

func TestMalformedChunkIsNoEnd(t *testing.T) {
	o := start(t, Options{}, each(chunkedHead+"5\r\nhello\r\nx\r\n"))
	_, got, err := fetch(o, get("/"))
	wantKind(t, err, Malformed)
	if got != "hello" || idleCount(o) != 0 {
		t.Errorf("got %q and %d idle connections, want the whole chunk before and none", got, idleCount(o))
	}
}

func TestCutHeadAtEveryByte(t *testing.T) {
	o := start(t, Options{}, func(n int, p *peer) {
		p.request()
		p.say(lengthHead[:n])
	})
	for cut := range len(lengthHead) {
		_, err := o.RoundTrip(context.Background(), get("/"))
		wantKind(t, err, Cut)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: got error %v, want %v", cut, err, io.ErrUnexpectedEOF)
		}
	}
}

func TestCloseDelimitedBodyProvesNothing(t *testing.T) {
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\n\r\nhello")
	})
	res, got, err := fetch(o, get("/"))
	if err != nil || got != "hello" || res.ContentLength != -1 {
		t.Fatalf("got %q, length %d and error %v, want hello, -1 and none", got, res.ContentLength, err)
	}
	if res.Body.Framed() || idleCount(o) != 0 {
		t.Errorf("got Framed %v and %d idle connections, want false and none", res.Body.Framed(), idleCount(o))
	}
}

func TestResponsesWithoutBody(t *testing.T) {
	f := func(method, response string, wantStatus int) {
		t.Helper()
		var conns atomic.Int64
		o := start(t, Options{}, func(n int, p *peer) {
			conns.Add(1)
			each(response)(n, p)
		})
		for range 2 {
			res, got, err := fetch(o, &Request{Method: method, Target: "/", Host: "h"})
			if err != nil || got != "" || res.Status != wantStatus || res.ContentLength != 0 || !res.Body.Framed() {
				t.Errorf("%s %q: got %+v, body %q and error %v", method, response, res, got, err)
				continue
			}
			if v, ok := res.Header.Get("Content-Length"); ok && v != "11" {
				t.Errorf("%s %q: got Content-Length %q in the header, want it as sent", method, response, v)
			}
		}
		if n := conns.Load(); n != 1 {
			t.Errorf("%s %q: got %d connections for 2 requests, want 1", method, response, n)
		}
	}
	f("HEAD", lengthHead, 200)
	f("HEAD", chunkedHead, 200)
	f("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 11\r\n\r\n", 304)
	f("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204)
	f("GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 204)
}

func TestHeadAboveTheLimitIsRefused(t *testing.T) {
	const response = lengthHead + "hello world"
	wantBody(t, start(t, Options{MaxHeaderBytes: len(lengthHead)}, each(response)), get("/"), "hello world")
	o := start(t, Options{MaxHeaderBytes: len(lengthHead) - 1}, each(response))
	_, err := o.RoundTrip(context.Background(), get("/"))
	wantKind(t, err, Malformed)
}

func TestResponseIsHandedOverAsSent(t *testing.T) {
	o := start(t, Options{}, each("HTTP/1.1 299 Odd Reason\r\ndate: D\r\nConnection: x-hop\r\nX-Hop: 1\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"+
		chunkedWire))
	res, got, err := fetch(o, get("/"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range res.Header {
		lines = append(lines, f.Name+"="+f.Value)
	}
	const want = "Date=D Connection=x-hop X-Hop=1 Set-Cookie=a Set-Cookie=b"
	if strings.Join(lines, " ") != want || res.Status != 299 || res.Reason != "Odd Reason" || got != "hello world" || res.ContentLength != -1 || !res.Body.Framed() {
		t.Errorf("got %d %q, %v, body %q, length %d", res.Status, res.Reason, lines, got, res.ContentLength)
	}
	if res.RequestTime.IsZero() || res.ResponseTime.Before(res.RequestTime) {
		t.Errorf("got request time %v and response time %v", res.RequestTime, res.ResponseTime)
	}
}

func TestBodyCloseEndsAReadThatWaits(t *testing.T) {
	o := start(t, Options{Settings: Settings{MaxConnections: 1}}, func(_ int, p *peer) {
		p.request()
		p.say(lengthHead + "hello")
		p.untilClosed()
	})
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(res.Body, b); err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	go func() {
		_, err := res.Body.Read(b)
		read <- err
	}()
	for range 2 {
		if err := res.Body.Close(); err != nil {
			t.Errorf("Close: got error %v, want none", err)
		}
	}
	err = <-read
	wantKind(t, err, Canceled)
	if _, again := res.Body.Read(b); !errors.Is(err, ErrBodyClosed) || !errors.Is(again, ErrBodyClosed) {
		t.Errorf("got errors %v and %v, want %v", err, again, ErrBodyClosed)
	}
	// The only connection was given back: the next request is no overload.
	if res, err = o.RoundTrip(context.Background(), get("/")); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

func TestBodyAfterItsEnd(t *testing.T) {
	o := start(t, Options{}, each(lengthHead+"hello world"))
	res, _, err := fetch(o, get("/"))
	if err != nil {
		t.Fatal(err)
	}
	// The connection carries another request by now; the old Body leaves it alone.
	other, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read after the end: got %d and error %v, want io.EOF", n, err)
	}
	res.Body.Close()
	if b, err := io.ReadAll(other.Body); string(b) != "hello world" || err != nil {
		t.Errorf("the next response: got %q and error %v", b, err)
	}
}
