package pace

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/test/testkit"
)

// pair returns both ends of a connection: a server's, and a client's with a small buffer.
func pair(t *testing.T) (server, client *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), s.Close() })
	server, client = s.(*net.TCPConn), c.(*net.TCPConn)
	_ = client.SetReadBuffer(16 << 10)
	return server, client
}

func watch(t *testing.T, o Options) *Watch {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	w := New(o)
	t.Cleanup(w.Close)
	return w
}

// TestAClientThatTricklesIsLetGo: it took a little now and then, and nothing ended it.
func TestAClientThatTricklesIsLetGo(t *testing.T) {
	w := watch(t, Options{SendRate: Rate{Bytes: 4 << 20, Over: 400 * time.Millisecond}})
	server, client := pair(t)
	w.Enter(server)
	broke := make(chan error, 1)
	go func() {
		_, err := server.Write(make([]byte, 64<<20))
		broke <- err
	}()
	go func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
			if _, err := io.CopyN(io.Discard, client, 8<<10); err != nil {
				return
			}
		}
	}()
	select {
	case err := <-broke:
		if err == nil {
			t.Error("all was written")
		}
	case <-time.After(testkit.Patience):
		t.Fatal("it goes on")
	}
	if slow, _ := w.LetGo(); slow != 1 {
		t.Errorf("counted: got %d, want 1", slow)
	}
}

// TestAClientThatIsNotSlowStays: one that waits, one that takes all there is although that is less than the rate, and one that takes
// more than that. The test looks itself, each eighth of a period, whenever the clients have taken what they are to take.
func TestAClientThatIsNotSlowStays(t *testing.T) {
	const over, looks, piece = 2 * time.Second, 4 * checksPerPeriod, 256 << 10
	w := watch(t, Options{SendRate: Rate{Bytes: 1 << 20, Over: over}})
	w.Close() // from now on nobody else looks
	enter := func() (*Sending, *net.TCPConn, *net.TCPConn) {
		server, client := pair(t)
		w.Enter(server)
		v, _ := w.conns.Load(net.Conn(server))
		return v.(*Sending), server, client
	}
	taken := func(s *Sending) int64 {
		n, _ := s.progress.acknowledged()
		return n
	}
	enter() // the one that waits
	little, littleServer, littleClient := enter()
	fast, fastServer, fastClient := enter()
	var all sync.WaitGroup
	all.Go(func() { _, _ = fastServer.Write(make([]byte, 2*looks*piece)) })
	for n, now := int64(1), time.Now(); n <= looks; n++ {
		now = now.Add(over / checksPerPeriod)
		_, _ = littleServer.Write([]byte("event"))
		if _, err := io.CopyN(io.Discard, littleClient, int64(len("event"))); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, fastClient, piece); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "what was read is acknowledged", func() bool {
			return taken(little) >= n*int64(len("event")) && taken(fast) >= n*piece
		})
		testkit.Eventually(t, "more is queued for the one that takes much", func() bool {
			q, ok := fast.progress.queue()
			return ok && q.unacked > 0
		})
		w.check(now, true)
	}
	if slow, _ := w.LetGo(); slow != 0 {
		t.Errorf("let go: %d", slow)
	}
	_ = fastServer.Close()
	_ = fastClient.Close()
	all.Wait()
}

// TestThePinnedAreBounded: of clients that keep bodies which have left the cache, those go
// that take nothing, and one that takes it quickly stays.
func TestThePinnedAreBounded(t *testing.T) {
	const size, clients = 64 << 20, 8
	total := pinned.NewTotal(3 * size)
	w := &Watch{closing: make(chan struct{}), o: Options{
		Pinned: total, Client: func(net.Conn) netip.Prefix { return netip.MustParsePrefix("192.0.2.1/32") }, Log: slog.New(slog.DiscardHandler),
	}}
	body := make([]byte, size)
	var all sync.WaitGroup
	start := func() (pin *pinned.Body, client *net.TCPConn, done chan error) {
		server, client := pair(t)
		w.Enter(server)
		pin, done = total.Body(), make(chan error, 1)
		pin.Land(size)
		s := w.Begin(server, time.Now())
		s.Hold(pin)
		all.Go(func() {
			_, err := server.Write(body)
			_ = s.Close()
			done <- err
		})
		return pin, client, done
	}
	quick, client, done := start()
	var slow []*pinned.Body
	for range clients - 1 {
		pin, _, _ := start()
		slow = append(slow, pin)
	}
	w.check(time.Now(), false) // the first look sees that the client has taken nothing
	if _, err := io.CopyN(io.Discard, client, 4<<20); err != nil {
		t.Fatal(err)
	}
	w.running.Go(w.run)
	t.Cleanup(w.Close)
	quick.Leave()
	for _, pin := range slow {
		pin.Leave()
	}
	testkit.Eventually(t, "no more is pinned than may be", func() bool { return total.Bytes() <= total.Limit() })
	all.Go(func() { _, _ = io.Copy(io.Discard, client) })
	if err := <-done; err != nil {
		t.Errorf("a client that takes it quickly: %v", err)
	}
	if _, shed := w.LetGo(); shed != clients-3 {
		t.Errorf("let go: got %d, want %d", shed, clients-3)
	}
	w.each(func(s *Sending) { _ = s.conn.Close() })
	all.Wait()
	if got := total.Bytes(); got != 0 {
		t.Errorf("in the end: got %d bytes", got)
	}
}
