package http2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// endless answers with content that does not end, until the stream does.
func endless(a *message.Answer) {
	a.Status = 200
	a.Content = &pieces{next: func() ([]byte, error) { return make([]byte, 32<<10), nil }}
}

// TestAnIdleConnectionIsEnded, one that never asks, and one that never ends its header.
func TestAnIdleConnectionIsEnded(t *testing.T) {
	const short = 100 * time.Millisecond
	f := func(name string, change func(*Options), play func(*client)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveHere(t, &engine{}, change)()
				play(c)
				c.wantEnd(xhttp2.ErrCodeNo)
			})
		})
	}
	idle := func(o *Options) { o.KeepaliveTimeout = short }
	header := func(o *Options) { o.HeaderTimeout = short }
	f("idle", idle, func(c *client) { c.one(plain("GET", "/")...) })
	f("silent", header, func(*client) {})
	f("half a header", header, func(c *client) {
		c.one(plain("GET", "/")...)
		_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: c.encode(plain("GET", "/")...), EndStream: true})
	})
}

// TestAPauseOfTheOriginIsNobodysIdleness: neither the client nor the connection is idle then.
func TestAPauseOfTheOriginIsNobodysIdleness(t *testing.T) {
	const short = 50 * time.Millisecond
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		n := 0
		a.Status = 200
		a.Content = &pieces{next: func() ([]byte, error) {
			if n++; n > 5 {
				return nil, io.EOF
			}
			time.Sleep(2 * short)
			return []byte("a"), nil
		}}
		return nil
	}}
	synctest.Test(t, func(t *testing.T) {
		dial := serveHere(t, e, func(o *Options) {
			o.KeepaliveTimeout, o.HeaderTimeout, o.WriteIdleTimeout, o.SendRate = short, short, short, pace.Rate{Bytes: 1 << 20, Over: short}
		})
		if g := dial().one(plain("GET", "/")...); g.text != "aaaaa" || !g.ended {
			t.Errorf("got %q, %v", g.text, g.reset)
		}
	})
}

// TestAClientThatTakesTooLittleLosesItsStream: by its window, at the end of the answer too, and
// counted where the pace is why.
func TestAClientThatTakesTooLittleLosesItsStream(t *testing.T) {
	f := func(name string, change func(*Options), slow int64, size int, trickle bool) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var counted atomic.Int64
				e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
					say(a, strings.Repeat("a", size))
					return nil
				}}
				c := serveHere(t, e, func(o *Options) {
					o.Slow = func() { counted.Add(1) }
					change(o)
				})()
				c.ask(1, true, plain("GET", "/")...)
				if trickle {
					stop := make(chan struct{})
					defer close(stop)
					go func() {
						for tick := time.NewTicker(10 * time.Millisecond); ; {
							select {
							case <-tick.C:
								_ = c.WriteWindowUpdate(1, 100)
							case <-stop:
								return
							}
						}
					}()
				}
				all, err := c.take(1)
				if err != nil || all[1].reset != xhttp2.ErrCodeInternal || len(all[1].text) >= size {
					t.Errorf("got %d bytes, %v, %v; want INTERNAL_ERROR", len(all[1].text), all[1].reset, err)
				}
				if got := counted.Load(); got != slow {
					t.Errorf("counted: got %d, want %d", got, slow)
				}
			})
		})
	}
	idle := func(o *Options) { o.WriteIdleTimeout = 100 * time.Millisecond }
	send := func(o *Options) { o.SendRate = pace.Rate{Bytes: 1 << 20, Over: 200 * time.Millisecond} }
	f("takes nothing", idle, 0, 1<<20, false)
	f("takes nothing of the end", idle, 0, 65535+10, false)
	f("trickles", send, 1, 1<<20, true)
}

// TestAStreamThatWaitsForOthersIsNotSlow: what is urgent went first for longer than a client may
// take nothing, and those behind were taken for clients that do.
func TestAStreamThatWaitsForOthersIsNotSlow(t *testing.T) {
	const idle = 400 * time.Millisecond
	var slow atomic.Int64
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		say(a, strings.Repeat("a", 200_000))
		return nil
	}}
	synctest.Test(t, func(t *testing.T) {
		c := serveHere(t, e, func(o *Options) {
			o.WriteIdleTimeout, o.SendRate, o.Slow = idle, pace.Rate{Bytes: 1000, Over: idle}, func() { slow.Add(1) }
		})(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
		c.ask(1, true, plain("GET", "/", "priority", "u=1")...)
		c.ask(3, true, plain("GET", "/", "priority", "u=5")...)
		done := make(chan struct{})
		go func() { // so that the first takes some times as long
			defer close(done)
			for range 100 {
				time.Sleep(idle / 20)
				_ = c.WriteWindowUpdate(0, 2_000)
			}
			_ = c.WriteWindowUpdate(0, 1<<20)
		}()
		all, err := c.take(1, 3)
		<-done
		if err != nil || len(all[1].text) != 200_000 || len(all[3].text) != 200_000 || slow.Load() > 0 {
			t.Errorf("got %d and %d bytes, %v, %d slow", len(all[1].text), len(all[3].text), err, slow.Load())
		}
	})
}

// TestAConnectionThatTakesNothingIsEnded, whatever its windows say.
func TestAConnectionThatTakesNothingIsEnded(t *testing.T) {
	closed := make(chan struct{})
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status = 200
		a.Content = &pieces{next: func() ([]byte, error) { return make([]byte, 32<<10), nil }, closed: func() { close(closed) }}
		return nil
	}}
	_, address := serve(t, e, func(o *Options) { o.WriteIdleTimeout = 100 * time.Millisecond })
	c := dial(t, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 30})
	_ = c.WriteWindowUpdate(0, 1<<30)
	c.ask(1, true, plain("GET", "/")...)
	select {
	case <-closed:
	case <-time.After(testkit.Patience):
		t.Error("the answer goes on")
	}
}

// wantLastStream reads until a GOAWAY, which must say that this stream is the last.
func (c *client) wantLastStream(want uint32) {
	c.t.Helper()
	for {
		f, err := c.ReadFrame()
		if err != nil {
			c.t.Fatal(err)
		}
		if f, ok := f.(*xhttp2.GoAwayFrame); ok {
			if f.LastStreamID != want || f.ErrCode != xhttp2.ErrCodeNo {
				c.t.Errorf("got %v, want one of stream %d", f, want)
			}
			return
		}
	}
}

// TestShutdownLetsStreamsFinish: the client hears of it first, streams that it opens meanwhile are
// answered, and the connection ends with the last of them.
func TestShutdownLetsStreamsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
			return later(func() {
				<-goOn
				say(a, "ok")
			})
		}}
		s, ln := serveAt(t, e, nil)
		idle, c := begin(over(t, ln.dial()), nil), begin(over(t, ln.dial()), nil)
		var idling sync.WaitGroup
		idling.Go(func() { idle.wantEnd(xhttp2.ErrCodeNo) })
		c.ask(1, true, plain("GET", "/")...)
		if !c.quiet() {
			t.Fatal("it was answered")
		}
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(t.Context()) }()
		c.wantLastStream(1<<31 - 1)
		c.ask(3, true, plain("GET", "/")...)
		_ = c.WritePing(true, goAwayPing)
		c.wantLastStream(3)
		c.ask(5, true, plain("GET", "/")...) // is not begun
		close(goOn)
		if all, err := c.take(1, 3); err != nil || all[1].text != "ok" || all[3].text != "ok" {
			t.Errorf("got %v, %v", all, err)
		}
		idling.Wait()
		if f, err := c.next(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, %v, want the end", f, err)
		}
		if err := <-down; err != nil {
			t.Errorf("shutdown: %v", err)
		}
		select {
		case <-ln.closed:
		default:
			t.Error("it still accepts")
		}
	})
}

// TestShutdownTakesNoLongerThanItMay, and Close ends what is left.
func TestShutdownTakesNoLongerThanItMay(t *testing.T) {
	left := make(chan struct{})
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		return later(func() {
			r.Conn.(*stream).OnLeave(func() { close(left) })
			<-left
			a.Status, a.Length = 504, 0
		})
	}}
	s, address := serve(t, e, nil)
	c := dial(t, address)
	c.ask(1, true, plain("GET", "/")...)
	if !c.quiet() {
		t.Fatal("it was answered")
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-left
	s.work.Wait()
}

// TestAnAnswerThatIsTheLastEndsTheConnection, not that to what could not be read.
func TestAnAnswerThatIsTheLastEndsTheConnection(t *testing.T) {
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		say(a, "ok")
		a.Last = true
		return nil
	}}
	_, address := serve(t, e, nil)
	c := dial(t, address)
	if g := c.one(plain("GET", "/", "connection", "x")...); g.value(":status") != "400" {
		t.Errorf("got %v", g)
	}
	c.ask(3, true, plain("GET", "/")...)
	if all, err := c.take(3); err != nil || all[3].text != "ok" {
		t.Errorf("got %v, %v", all[3], err)
	}
	_ = c.WritePing(true, goAwayPing)
	c.wantEnd(xhttp2.ErrCodeNo)
}

// TestOneThatLeavesIsNoticed: by a reset, by the end of the connection, and not after stop.
func TestOneThatLeavesIsNoticed(t *testing.T) {
	for name, leave := range map[string]func(*client){
		"reset": func(c *client) { _ = c.WriteRSTStream(1, xhttp2.ErrCodeCancel) },
		"end":   func(c *client) { _ = c.c.Close() },
		"error": func(c *client) { _ = c.WriteWindowUpdate(0, 0) },
	} {
		begun, left, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
			return later(func() {
				s := r.Conn.(*stream)
				stop := s.OnLeave(func() { t.Errorf("%s: called after stop", name) })
				if !stop() || stop() {
					t.Errorf("%s: stop told something else", name)
				}
				s.OnLeave(func() { close(left) })
				close(begun)
				<-left
				_, err := r.Body.Read(make([]byte, 1))
				again := make(chan struct{})
				s.OnLeave(func() { close(again) })
				<-again
				over <- err
				say(a, "to nobody")
			})
		}}
		s, address := serve(t, e, nil)
		c := dial(t, address)
		c.ask(1, false, plain("POST", "/")...)
		<-begun
		leave(c)
		if err := <-over; err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: the content ended with %v", name, err)
		}
		_ = s.Close()
	}
}

// TestAStreamIsAConnection of its client: its addresses, its deadlines, its end.
func TestAStreamIsAConnection(t *testing.T) {
	peer := netip.MustParseAddr("192.0.2.7")
	seen, late, asked := make(chan net.Conn, 1), make(chan struct{}), 0
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		return later(func() {
			_ = r.Deadlines.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v, want the deadline", err)
			}
			close(late)
			_ = r.Deadlines.SetReadDeadline(time.Time{})
			if n, err := r.Conn.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Errorf("got %d, %v after it", n, err)
			}
			seen <- r.Conn
			endless(a)
		})
	}}
	_, address := serve(t, e, func(o *Options) {
		o.Peer = func(net.Conn) (netip.Addr, bool) { asked++; return peer, true }
	})
	c := dial(t, address)
	c.ask(1, false, plain("POST", "/")...)
	<-late
	_ = c.WriteData(1, false, []byte("x"))
	s := (<-seen).(interface {
		pace.Stream
		Peer() (netip.Addr, bool)
		NetConn() net.Conn
	})
	if got, told := s.Peer(); got != peer || !told || asked != 1 {
		t.Errorf("peer: got %v, %v, asked %d times", got, told, asked)
	}
	if s.RemoteAddr().String() != c.c.LocalAddr().String() || s.LocalAddr().String() != address || s.NetConn() == nil {
		t.Errorf("got %v and %v", s.RemoteAddr(), s.LocalAddr())
	}
	testkit.Eventually(t, "a window was taken", func() bool { return s.Taken() == 65535 })
	_ = s.SetWriteDeadline(time.Now())
	_ = s.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if all, err := c.take(1); err != nil || all[1].reset != xhttp2.ErrCodeInternal {
		t.Errorf("got %v, %v, want a reset", all[1], err)
	}
	if s.Close() != nil || s.SetDeadline(time.Now()) != nil {
		t.Error("after its end")
	}
}

// TestPanicResetsOneStreamAndIsCounted, wherever it comes from.
func TestPanicResetsOneStreamAndIsCounted(t *testing.T) {
	trap := func() { panic("trap") }
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		switch string(r.Target) {
		case "/begin":
			trap()
		case "/finish":
			return later(trap)
		case "/next":
			a.Status = 200
			a.Content = &pieces{next: func() ([]byte, error) { trap(); return nil, nil }}
			return nil
		case "/leave":
			r.Conn.(*stream).OnLeave(trap)
			return later(func() { _ = r.Conn.Close() })
		}
		say(a, "ok")
		return nil
	}}
	s, address := serve(t, e, nil)
	c := dial(t, address)
	for i, path := range []string{"/begin", "/finish", "/next", "/leave"} {
		id := uint32(4*i + 1)
		c.ask(id, true, plain("GET", path)...)
		c.ask(id+2, true, plain("GET", "/")...)
		all, err := c.take(id, id+2)
		if err != nil || all[id].reset != xhttp2.ErrCodeInternal || all[id+2].text != "ok" {
			t.Fatalf("%s: got %v, then %v, %v", path, all[id], all[id+2], err)
		}
		testkit.Eventually(t, "it is counted", func() bool { return s.o.Panics.Count() == int64(i+1) })
	}
}

// TestRequestsBeyondTheLimitGet503, and each that was admitted is done once.
func TestRequestsBeyondTheLimitGet503(t *testing.T) {
	var places atomic.Int64
	places.Store(1)
	goOn := make(chan struct{})
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		return later(func() {
			<-goOn
			say(a, "ok")
		})
	}}
	_, address := serve(t, e, func(o *Options) {
		o.Admit = func() bool {
			if places.Add(-1) < 0 {
				places.Add(1)
				return false
			}
			return true
		}
		o.Done = func() { places.Add(1) }
	})
	c := dial(t, address)
	c.ask(1, true, plain("GET", "/")...)
	c.ask(3, true, plain("GET", "/")...)
	all, err := c.take(3)
	if g := all[3]; err != nil || g.value(":status") != "503" || g.value("retry-after") != "1" {
		t.Errorf("got %v, %v", g, err)
	}
	close(goOn)
	if all, err := c.take(1); err != nil || all[1].text != "ok" {
		t.Errorf("got %v, %v", all[1], err)
	}
	testkit.Eventually(t, "the place is free", func() bool { return places.Load() == 1 })
}

// TestTheStateOfAConnectionIsTold in order.
func TestTheStateOfAConnectionIsTold(t *testing.T) {
	var mu sync.Mutex
	var states []State
	_, address := serve(t, &engine{}, func(o *Options) {
		o.State = func(_ net.Conn, s State) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, s)
		}
	})
	c := dial(t, address)
	c.one(plain("GET", "/")...)
	is := func(want ...State) {
		t.Helper()
		testkit.Eventually(t, "the states are told", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Equal(states, want)
		})
	}
	is(New, Active, Idle, Active, Idle)
	_ = c.c.Close()
	is(New, Active, Idle, Active, Idle, Closed)
}

// TestEveryAnswerIsClosedOnce: of clients that leave at any time, in any way.
func TestEveryAnswerIsClosedOnce(t *testing.T) {
	var begun, closed, done atomic.Int64
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		begun.Add(1)
		a.Held = closer(func() { closed.Add(1) })
		if r.Target[1] == 'm' {
			say(a, strings.Repeat("a", 100_000))
			return nil
		}
		finish := func() {
			n := 10
			a.Status = 200
			a.Content = &pieces{next: func() ([]byte, error) {
				if n--; n < 0 {
					return nil, io.EOF
				}
				return bytes.Repeat([]byte("a"), 10_000), nil
			}}
		}
		if r.Target[1] == 'p' {
			finish()
			return nil
		}
		return later(func() {
			if r.Body != nil {
				_, _ = r.Body.Read(make([]byte, 10))
			}
			finish()
		})
	}}
	s, address := serve(t, e, func(o *Options) { o.Streams = 100; o.Done = func() { done.Add(1) } })
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range 10 {
				c := dial(t, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: uint32(random.IntN(200_000))})
				var hearing sync.WaitGroup
				hearing.Go(func() { _, _ = io.Copy(io.Discard, c.c) })
				for i := range uint32(50) {
					id := 2*i + 1
					c.ask(id, random.IntN(2) == 0, plain("POST", []string{"/m", "/p", "/l"}[random.IntN(3)])...)
					switch random.IntN(6) {
					case 0:
						_ = c.WriteRSTStream(id, xhttp2.ErrCodeCancel)
					case 1:
						_ = c.WriteData(id, true, []byte("abc"))
					case 2:
						_ = c.WriteWindowUpdate(0, 100_000)
					case 3:
						_ = c.WriteWindowUpdate(id, 0)
					}
					if random.IntN(100) == 0 {
						break
					}
				}
				_ = c.c.Close()
				hearing.Wait()
			}
		})
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s.work.Wait()
	if begun.Load() == 0 || begun.Load() != closed.Load() || begun.Load() != done.Load() {
		t.Errorf("got %d begun, %d closed, %d done", begun.Load(), closed.Load(), done.Load())
	}
	if n := s.o.Panics.Count(); n > 0 {
		t.Errorf("%d panics", n)
	}
}

type closer func()

func (f closer) Close() error { f(); return nil }

// TestAnIdleConnectionKeepsLittle.
func TestAnIdleConnectionKeepsLittle(t *testing.T) {
	testkit.Plain(t, "it weighs the heap")
	const conns, most = 200, 24 << 10
	_, address := serve(t, &engine{}, nil)
	all := make([]net.Conn, conns)
	before := heap()
	for i := range all {
		c := dial(t, address)
		c.one(plain("GET", "/")...)
		all[i] = c.c
	}
	got := (heap() - before) / conns
	t.Logf("%d bytes a connection, with the client's", got)
	if got > most {
		t.Errorf("got %d bytes a connection, want at most %d", got, most)
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	for range 4 { // pools keep what they have for two
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far from it
}
