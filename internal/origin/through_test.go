package origin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// shouting gives what it reads in capitals, and counts how often it was closed.
type shouting struct {
	io.Reader
	closed int
}

func (s *shouting) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err
}

func (s *shouting) Close() error {
	s.closed++
	return nil
}

func TestABodyGoesThroughAnother(t *testing.T) {
	o := start(t, Options{}, each(lengthHead+"hello world"))
	ask := func() (*Response, *shouting) {
		res, err := o.RoundTrip(context.Background(), get("/"))
		if err != nil || !res.Here {
			t.Fatalf("got here %v and error %v", err == nil && res.Here, err)
		}
		s := &shouting{Reader: res.Body.Raw()}
		res.Body.Through(s)
		return res, s
	}
	res, s := ask()
	if got, err := io.ReadAll(res.Body); string(got) != "HELLO WORLD" || err != nil || !res.Body.IsThrough() {
		t.Errorf("read: got %q, %v", got, err)
	}
	_ = res.Body.Close()
	if s.closed != 1 || idleCount(o) != 1 {
		t.Errorf("read: closed %d times, %d idle connections; want once, and one", s.closed, idleCount(o))
	}
	res, s = ask()
	p := make([]byte, len("hello world"))
	if !res.Body.TakeHere(p) || string(p) != "HELLO WORLD" || s.closed != 1 || idleCount(o) != 1 {
		t.Errorf("taken: got %q, closed %d times, %d idle connections", p, s.closed, idleCount(o))
	}
	res, s = ask()
	if res.Body.TakeHere(p[:5]) || s.closed != 1 {
		t.Errorf("a part was taken as if it was all, closed %d times", s.closed)
	}
	res, s = ask()
	_ = res.Body.Close()
	if n, err := res.Body.Read(p); n > 0 || !errors.Is(err, ErrBodyClosed) || s.closed != 1 {
		t.Errorf("closed: got %d bytes, %v, closed %d times", n, err, s.closed)
	}
	res, _ = ask()
	_ = res.Body.Close()
	res.Recycle()
	for range 3 {
		res, err := o.RoundTrip(context.Background(), get("/"))
		if err != nil || res.Body.IsThrough() {
			t.Fatalf("the memory of a response that was given back has its reader, or error %v", err)
		}
		_ = res.Body.Close()
		res.Recycle()
	}
}

// TestRawSaysWhetherAReadWouldWait, so that nothing is kept back while the origin says nothing.
func TestRawSaysWhetherAReadWouldWait(t *testing.T) {
	for name, framing := range map[string][3]string{
		"length":               {"Content-Length: 10\r\n\r\nhello", "world", ""},
		"chunks":               {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "5\r\nworld\r\n", "0\r\n\r\n"},
		"closing":              {"\r\nhello", "world", ""},
		"three writes a chunk": {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello", "\r\n5\r\nworld", "\r\n0\r\nX-A: b\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			next := make(chan struct{})
			o := start(t, Options{}, func(_ int, p *peer) {
				p.request()
				p.say("HTTP/1.1 200 OK\r\n" + framing[0])
				<-next
				p.say(framing[1])
				<-next
				p.say(framing[2])
			})
			res, err := o.RoundTrip(context.Background(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			raw, p := res.Body.Raw(), make([]byte, 100)
			read := func(want string) {
				t.Helper()
				testkit.Eventually(t, "something has come", raw.AtHand)
				if n, err := io.ReadFull(raw, p[:len(want)]); err != nil || string(p[:n]) != want {
					t.Fatalf("got %q, %v, want %q", p[:n], err, want)
				}
			}
			read("hello")
			if raw.AtHand() {
				t.Error("something is at hand of which nothing has come")
			}
			next <- struct{}{}
			read("world")
			if raw.AtHand() && name != "length" {
				t.Error("something is at hand of which only what frames it has come")
			}
			next <- struct{}{}
			testkit.Eventually(t, "the end has come", raw.AtHand)
			if n, err := raw.Read(p); n > 0 || err != io.EOF { //nolint:errorlint // it is no other
				t.Errorf("got %d bytes, %v, want the end", n, err)
			}
			if !raw.AtHand() {
				t.Error("behind the end a read would wait")
			}
		})
	}
}

// TestWhatOnlyFramesIsNotAtHand: an origin that writes size, data and the end of a chunk one by one, by TCP and TLS.
func TestWhatOnlyFramesIsNotAtHand(t *testing.T) {
	next := make(chan struct{})
	play := func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for _, piece := range []string{"5\r\nhello", "\r\n", "5\r\n", "world", "\r\n0\r\n", "X-Sum: 1\r\n", "\r\n"} {
			<-next
			p.say(piece)
		}
		p.untilClosed()
	}
	for name, o := range map[string]*Origin{"TCP": start(t, Options{}, play), "TLS": startTLS(t, play)} {
		t.Run(name, func(t *testing.T) {
			res, err := o.RoundTrip(context.Background(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			raw, p := res.Body.Raw(), make([]byte, 5)
			arrives := func(want bool) {
				t.Helper()
				before := res.Body.c.br.Buffered()
				if raw.AtHand() {
					t.Fatal("something is at hand of which nothing has come")
				}
				next <- struct{}{}
				testkit.Eventually(t, "it has come", func() bool { return raw.AtHand() || res.Body.c.br.Buffered() > before })
				if got := raw.AtHand(); got != want {
					t.Fatalf("at hand: got %v, want %v", got, want)
				}
			}
			read := func(want string) {
				t.Helper()
				if n, err := io.ReadFull(raw, p); err != nil || string(p[:n]) != want {
					t.Fatalf("got %q, %v, want %q", p[:n], err, want)
				}
			}
			arrives(true)
			read("hello")
			arrives(false)
			arrives(false)
			arrives(true)
			read("world")
			arrives(false)
			arrives(false)
			arrives(true)
			if n, err := raw.Read(p); n > 0 || err != io.EOF { //nolint:errorlint // it is no other
				t.Errorf("got %d bytes, %v, want the end", n, err)
			}
		})
	}
}

// A reset that AtHand has seen is an error for the next Read. The system reports it once, and an end of the stream after that.
func TestAResetThatWasSeenIsNoEnd(t *testing.T) {
	next := make(chan struct{})
	o := start(t, Options{}, func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\n\r\nhello")
		<-next
		_ = p.Conn.(*net.TCPConn).SetLinger(0)
		_ = p.Close()
	})
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	raw, p := res.Body.Raw(), make([]byte, 100)
	if n, err := raw.Read(p); string(p[:n]) != "hello" || err != nil {
		t.Fatalf("got %q, %v", p[:n], err)
	}
	next <- struct{}{}
	testkit.Eventually(t, "it was reset", raw.AtHand)
	if n, err := raw.Read(p); n > 0 || err == nil || err == io.EOF { //nolint:errorlint // it is no other
		t.Errorf("got %d bytes, %v, want an error", n, err)
	}
}
