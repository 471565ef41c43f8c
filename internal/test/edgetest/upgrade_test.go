package edgetest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// halves is an end of a connection in memory that can be closed by halves, as one over
// TCP can: it reads from one pipe and writes to another.
type halves struct {
	*end // to read
	out  net.Conn
}

func (h *halves) Write(p []byte) (int, error)         { return h.out.Write(p) }
func (h *halves) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{h.out}, r) }
func (h *halves) CloseWrite() error                   { return h.out.Close() }
func (h *halves) SetWriteDeadline(t time.Time) error  { return alive(h.out.SetWriteDeadline(t)) }
func (h *halves) SetDeadline(t time.Time) error {
	return errors.Join(h.end.SetDeadline(t), h.SetWriteDeadline(t))
}
func (h *halves) Close() error { return errors.Join(h.out.Close(), h.Conn.Close()) }

// dialHalves is dial for connections of halves.
func (p *pipe) dialHalves(_ context.Context, _, _ string) (net.Conn, error) {
	oursIn, theirsOut := net.Pipe()
	theirsIn, oursOut := net.Pipe()
	p.conns <- &halves{&end{Conn: theirsIn, local: p.Addr(), remote: clientAddress()}, theirsOut}
	return &halves{&end{Conn: oursIn, local: clientAddress(), remote: p.Addr()}, oursOut}, nil
}

// upgraded runs do in a bubble, with a client whose connection the origin has switched,
// and what then comes of it; script plays the origin from there on.
func upgraded(t *testing.T, script func(*Conn), do func(t *testing.T, c *halves, r *bufio.Reader)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // fasthttp's workers
		clients, servers := newPipe(1), newPipe(2)
		StartOrigin(t, servers, func(c *Conn) {
			c.Next()
			if c.Say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n") {
				script(c)
			}
		})
		o := new(world).optionsOf(clients, servers)
		o.Seams.Connect = servers.dialHalves
		e := Start(t, "", o)
		conn, err := clients.dialHalves(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		c := conn.(*halves)
		defer c.Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		r := bufio.NewReader(c)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("got %v, %v, want 101", res, err)
		}
		do(t, c, r)
		synctest.Wait()
		if n := e.Proxy.Upgraded() + int(e.Proxy.InFlight()); n != 0 {
			t.Errorf("%d upgraded connections and requests are left", n)
		}
	})
}

// endsAfter wants the end of the connection, and nothing before it, at a time from now.
func endsAfter(t *testing.T, r io.Reader, want time.Duration) {
	t.Helper()
	begun := time.Now()
	b, _ := io.ReadAll(r)
	if took := time.Since(begun); len(b) > 0 || took != want {
		t.Errorf("got %q and the end after %v, want nothing and %v", b, took, want)
	}
}

// TestUpgradedSilence: what either side sends puts the limit off; after an hour without
// a byte both ends are closed.
func TestUpgradedSilence(t *testing.T) {
	const almost = time.Hour - time.Second
	upgraded(t, func(c *Conn) {
		for range 2 { // this side alone
			time.Sleep(almost)
			c.Say("o")
		}
		c.UntilClosed()
	}, func(t *testing.T, c *halves, r *bufio.Reader) {
		for range 2 {
			if b, err := r.ReadByte(); b != 'o' {
				t.Fatalf("got %q, %v, want what the origin sends", b, err)
			}
		}
		for range 2 { // and then the other
			time.Sleep(almost)
			if _, err := io.WriteString(c, "c"); err != nil {
				t.Fatal(err)
			}
		}
		endsAfter(t, r, time.Hour)
	})
}

// TestUpgradedHalfClosedSilence: once one side has ended, the other has the limit of a
// request's body, each time that it is silent.
func TestUpgradedHalfClosedSilence(t *testing.T) {
	t.Run("of the origin", func(t *testing.T) {
		upgraded(t, func(c *Conn) {
			c.UntilClosed()
			for range 3 {
				time.Sleep(29 * time.Second)
				c.Say("o")
			}
			time.Sleep(time.Hour)
		}, func(t *testing.T, c *halves, r *bufio.Reader) {
			_ = c.CloseWrite()
			got := make([]byte, 3)
			if _, err := io.ReadFull(r, got); string(got) != "ooo" {
				t.Fatalf("got %q, %v, want what the origin sends", got, err)
			}
			endsAfter(t, r, 30*time.Second)
		})
	})
	t.Run("of the client", func(t *testing.T) {
		var got string
		var ended time.Time
		upgraded(t, func(c *Conn) {
			_ = c.Conn.(*halves).CloseWrite()
			b, _ := io.ReadAll(c.Rest())
			got, ended = string(b), time.Now()
		}, func(t *testing.T, c *halves, r *bufio.Reader) {
			endsAfter(t, r, 0)
			for range 3 {
				time.Sleep(29 * time.Second)
				_, _ = io.WriteString(c, "c")
			}
			begun := time.Now()
			time.Sleep(time.Minute)
			synctest.Wait()
			if took := ended.Sub(begun); got != "ccc" || took != 30*time.Second {
				t.Errorf("the origin got %q and the end after %v, want ccc and 30s", got, took)
			}
		})
	})
}

// TestUpgradedWithoutHalves: where a connection cannot be closed by halves, the end of
// one side is the end of both.
func TestUpgradedWithoutHalves(t *testing.T) {
	upgraded(t, func(c *Conn) { c.UntilClosed() }, func(_ *testing.T, c *halves, _ *bufio.Reader) { _ = c.Close() })
}
