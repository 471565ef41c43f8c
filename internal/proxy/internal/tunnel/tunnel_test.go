package tunnel_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/proxy/internal/tunnel"
)

// conn is one end of a connection within the process, which can be closed by halves.
type conn struct {
	net.Conn          // what is read
	out      net.Conn // what is written
}

func (c *conn) Write(b []byte) (int, error)         { return c.out.Write(b) }
func (c *conn) SetWriteDeadline(at time.Time) error { return c.out.SetWriteDeadline(at) }
func (c *conn) CloseWrite() error                   { return c.out.Close() }

func (c *conn) Close() error {
	_ = c.out.Close()
	return c.Conn.Close()
}

// connect returns both ends of a connection.
func connect() (near, far *conn) {
	there, thereEnd := net.Pipe()
	back, backEnd := net.Pipe()
	return &conn{back, there}, &conn{thereEnd, backEnd}
}

// server is an end of a connection in the form of a tunnel's origin.
type server struct {
	*conn
	buffer [1 << 10]byte
	next   func() // nil: nothing happens before Next
}

func (s *server) Next() ([]byte, error) {
	if s.next != nil {
		s.next()
	}
	n, err := s.Read(s.buffer[:])
	return s.buffer[:n], err
}

// rig is a tunnel with a peer on each side.
type rig struct {
	*tunnel.Tunnel
	near           net.Conn // the tunnel's end of the client's connection
	server         *server
	client, origin *conn // the far ends
	ended          chan tunnel.End
}

var options = tunnel.Options{UpgradeIdleTimeout: time.Hour, ReadIdleTimeout: time.Minute, WriteIdleTimeout: 10 * time.Second, Now: time.Now}

func newRig(o tunnel.Options) *rig {
	near, client := connect()
	up, origin := connect()
	r := &rig{near: near, server: &server{conn: up}, client: client, origin: origin, ended: make(chan tunnel.End, 1)}
	r.Tunnel = tunnel.New(near, r.server, o)
	return r
}

// run begins the tunnel and reads its head.
func (r *rig) run(t *testing.T) {
	t.Helper()
	go func() { r.ended <- r.Run(r.near, []byte("head")) }()
	want(t, r.client, "head")
}

// want reads just text from c.
func want(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("got %q and %v, want %q", got, err, text)
	}
}

// wantEnd reads the end of a direction.
func wantEnd(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes and %v, want the end", n, err)
	}
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// wantFailure waits for the end of the tunnel, and compares why and when it ended.
func (r *rig) wantFailure(t *testing.T, while string, err error, at time.Time) tunnel.End {
	t.Helper()
	end := <-r.ended
	if end.While != while || !errors.Is(end.Err, err) {
		t.Errorf("got %q, %v, want %q, %v", end.While, end.Err, while, err)
	}
	if now := time.Now(); !now.Equal(at) {
		t.Errorf("ended %v late", now.Sub(at))
	}
	return end
}

func TestBytesGoBothWaysAndEachDirectionEndsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := newRig(options), time.Now()
		r.run(t)
		say(t, r.client, "up")
		want(t, r.origin, "up")
		say(t, r.origin, "down")
		want(t, r.client, "down")
		_ = r.client.CloseWrite()
		wantEnd(t, r.origin)
		say(t, r.origin, "the rest")
		want(t, r.client, "the rest")
		_ = r.origin.CloseWrite()
		wantEnd(t, r.client)
		if end := r.wantFailure(t, "", nil, start); end.Up != 2 || end.Down != 12 || !end.HeadSent.Equal(start) {
			t.Errorf("got %+v, want 2 bytes up, 12 down and a head at %v", end, start)
		}
	})
}

func TestSilenceOfBothSidesEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := newRig(options), time.Now()
		r.run(t)
		time.Sleep(time.Hour - 1)
		say(t, r.origin, "ping")
		want(t, r.client, "ping")
		r.wantFailure(t, "wait for either side", context.DeadlineExceeded, start.Add(2*time.Hour-1))
		wantEnd(t, r.client)
		wantEnd(t, r.origin)
	})
}

func TestSilenceAfterTheEndOfOneSideEndsItSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := newRig(options), time.Now()
		r.run(t)
		_ = r.origin.CloseWrite()
		wantEnd(t, r.client)
		time.Sleep(time.Minute - 1)
		say(t, r.client, "up")
		want(t, r.origin, "up")
		r.wantFailure(t, "wait for either side", context.DeadlineExceeded, start.Add(2*time.Minute-1))
	})
}

func TestClientThatTakesNothingEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := newRig(options), time.Now()
		r.run(t)
		say(t, r.origin, "down")
		r.wantFailure(t, "send to the client", os.ErrDeadlineExceeded, start.Add(10*time.Second))
		wantEnd(t, r.origin)
	})
}

func TestFailureOfOneSideEndsTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := newRig(options), time.Now()
		r.run(t)
		_ = r.origin.Conn.Close() // it takes no more
		say(t, r.client, "up")
		r.wantFailure(t, "send to the origin", io.ErrClosedPipe, start)
		wantEnd(t, r.client)
	})
}

// A connection that has no halves is closed whole where one half would end.
func TestConnectionWithoutHalvesIsClosedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, client := net.Pipe()
		up, origin := connect()
		tun := tunnel.New(near, &server{conn: up}, options)
		ended := make(chan tunnel.End)
		go func() { ended <- tun.Run(near, []byte("head")) }()
		want(t, client, "head")
		_ = origin.CloseWrite()
		wantEnd(t, client)
		wantEnd(t, origin)
		if end := <-ended; end.Up != 0 || end.Down != 0 {
			t.Errorf("got %+v, want no bytes", end)
		}
	})
}

func TestCutBeforeRunSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(options)
		r.Cut()
		wantEnd(t, r.origin)
		if end := r.Run(r.near, []byte("head")); !end.HeadSent.IsZero() {
			t.Error("a head was sent")
		}
		_ = r.near.Close() // Run has left it open
		wantEnd(t, r.client)
	})
}

func TestPanicEndsItAndIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := options
		o.Panics = rescue.NewCounter(slog.New(slog.NewTextHandler(&log, nil)))
		r := newRig(o)
		r.server.next = func() { panic("no more") }
		r.run(t)
		<-r.ended
		wantEnd(t, r.client)
		wantEnd(t, r.origin)
		if o.Panics.Count() != 1 || !strings.Contains(log.String(), "no more") {
			t.Errorf("got %d panics and the log %q, want 1", o.Panics.Count(), log.String())
		}
	})
}

func TestSetEndsAllAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set tunnel.Set
		var removed atomic.Int64
		for range 3 {
			r := newRig(options)
			if !set.Add(r.Tunnel) {
				t.Fatal("Add before Close: got false")
			}
			r.run(t)
			go func() {
				<-r.ended
				time.Sleep(time.Minute) // its books
				removed.Add(1)
				set.Remove(r.Tunnel)
			}()
			synctest.Wait()
		}
		if set.Len() != 3 {
			t.Errorf("got %d open, want 3", set.Len())
		}
		if n := set.Close(); n != 3 || removed.Load() != 3 || set.Len() != 0 {
			t.Errorf("got %d ended, %d removed and %d left, want 3, 3 and 0", n, removed.Load(), set.Len())
		}
		if set.Add(newRig(options).Tunnel) {
			t.Error("Add after Close: got true")
		}
	})
}
