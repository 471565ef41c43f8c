package pace

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/pinned"
	"edgeproxy/internal/testkit"
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
	w := watch(t, Options{Send: Rate{Bytes: 4 << 20, Over: 400 * time.Millisecond}})
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

// TestAClientThatIsNotSlowStays: one that waits, one that takes all there is although that is
// less than the rate, and one that takes more than that.
func TestAClientThatIsNotSlowStays(t *testing.T) {
	t.Parallel()
	const over = 2 * time.Second // a busy machine keeps us from reading for a second
	w := watch(t, Options{Send: Rate{Bytes: 1 << 20, Over: over}})
	var all sync.WaitGroup
	f := func(name string, send func(net.Conn)) {
		server, client := pair(t)
		w.Enter(server)
		all.Go(func() { _, _ = io.Copy(io.Discard, client) })
		all.Go(func() {
			send(server)
			if _, err := server.Write([]byte("x")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_ = server.Close()
		})
	}
	ticks := func(do func()) {
		tick := time.NewTicker(over / 20)
		defer tick.Stop()
		for range 50 {
			<-tick.C
			do()
		}
	}
	f("idle", func(net.Conn) { ticks(func() {}) })
	f("little to take", func(c net.Conn) { ticks(func() { _, _ = c.Write([]byte("event")) }) })
	f("fast", func(c net.Conn) { ticks(func() { _, _ = c.Write(make([]byte, 256<<10)) }) })
	all.Wait()
	if slow, _ := w.LetGo(); slow != 0 {
		t.Errorf("let go: %d", slow)
	}
}

// TestThePinnedAreBounded: of clients that keep bodies which have left the cache, those go
// that take nothing, and one that takes it quickly stays.
func TestThePinnedAreBounded(t *testing.T) {
	const size, clients = 64 << 20, 8
	total := pinned.NewTotal(3 * size)
	w := watch(t, Options{Pinned: total, Client: func(net.Conn) netip.Prefix { return netip.MustParsePrefix("192.0.2.1/32") }})
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
	for until := time.Now().Add(2 * checkInterval); time.Now().Before(until); { // steadily, and for some looks
		if _, err := io.CopyN(io.Discard, client, 64<<10); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
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
