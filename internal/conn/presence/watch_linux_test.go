package presence

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// closer counts how often it was closed.
type closer struct{ n atomic.Int64 }

func (c *closer) Close() error {
	c.n.Add(1)
	return nil
}

// socket returns both ends of a connection over TCP.
func socket(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func watch(t *testing.T) *Watch {
	t.Helper()
	w := New(nil)
	t.Cleanup(w.Close)
	return w
}

// TestAClientThatLeavesIsNoticed: however it leaves, and what is to end does so once.
func TestAClientThatLeavesIsNoticed(t *testing.T) {
	w := watch(t)
	f := func(name string, leave func(c *net.TCPConn)) {
		t.Helper()
		client, server := socket(t)
		_, _ = client.Write([]byte("unread")) // what was sent before is no sign of life
		g, ends := w.Attend(server), &closer{}
		g.Ends(ends)
		leave(client)
		testkit.Eventually(t, name, g.Left)
		testkit.Eventually(t, name, func() bool { return ends.n.Load() == 1 })
		late := &closer{}
		g.Ends(late)
		if late.n.Load() != 1 {
			t.Errorf("%s: what is named later does not end at once", name)
		}
		g.Release()
	}
	f("close", func(c *net.TCPConn) { _ = c.Close() })
	f("reset", func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() })
	f("half, and silent", func(c *net.TCPConn) { _ = c.CloseWrite() })
	if n := w.Gone(); n != 3 {
		t.Errorf("%d were noticed, want 3", n)
	}
}

// TestAClientThatHearsIsThere: one that has ended its own side alone takes what is sent.
func TestAClientThatHearsIsThere(t *testing.T) {
	w := watch(t)
	w.sweepEvery = time.Hour // the test sweeps itself: a busy machine may sweep more often than is meant
	client, server := socket(t)
	g := w.Attend(server)
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, client) }()
	for range 10 {
		for range 3 { // fewer than are waited for
			w.sweep()
		}
		_, _ = server.Write([]byte("x"))
		g.Sent()
	}
	if g.Left() {
		t.Error("a client that takes what it gets is held to be gone")
	}
	g.Release()
}

// TestWhoIsReleasedLeavesNoMore: its connection may be another's by then.
func TestWhoIsReleasedLeavesNoMore(t *testing.T) {
	w := watch(t)
	for range 100 {
		client, server := socket(t)
		g, ends := w.Attend(server), &closer{}
		g.Ends(ends)
		g.Release()
		g.Release()
		_ = client.SetLinger(0)
		_, _ = client.Close(), server.Close()
		if ends.n.Load() != 0 {
			t.Fatal("a client was told of after its release")
		}
	}
	if w.first != nil || w.last != nil || w.count != 0 || w.Gone() != 0 {
		t.Errorf("got %d in the list and %d gone, want nobody", w.count, w.Gone())
	}
}

// TestOthersGoOnBeingWatched: also where a client leaves from the middle of the list.
func TestOthersGoOnBeingWatched(t *testing.T) {
	w := watch(t)
	var clients []*net.TCPConn
	var guests []*Client
	for range 9 {
		c, s := socket(t)
		clients, guests = append(clients, c), append(guests, w.Attend(s))
	}
	for i := range guests {
		switch i % 3 {
		case 0:
			_ = clients[i].Close()
		case 1:
			guests[i].Release()
		}
	}
	testkit.Eventually(t, "three have left", func() bool { return w.Gone() == 3 })
	sweepsMore(t, w, 10)
	for i, g := range guests {
		if g.Left() != (i%3 == 0) {
			t.Errorf("client %d has left: %v, want %v", i, g.Left(), i%3 == 0)
		}
		g.Release()
	}
}

// TestNobodyToWatchIsNoSweep.
func TestNobodyToWatchIsNoSweep(t *testing.T) {
	w := watch(t)
	_, server := socket(t)
	g := w.Attend(server)
	sweepsMore(t, w, 1)
	g.Release()
	testkit.Eventually(t, "the sweeps end", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !w.timerSet
	})
	in, out := net.Pipe()
	defer in.Close()
	defer out.Close()
	w.Attend(in).Release()
	if w.mu.Lock(); w.timerSet {
		t.Error("there are sweeps although there is nobody to ask about")
	}
	w.mu.Unlock()
	var none *Client
	none.Ends(in)
	none.Sent()
	none.Release()
	if none.Left() {
		t.Error("nobody has left")
	}
}

// TestAConnectionThatSomebodyClosedIsNoClients.
func TestAConnectionThatSomebodyClosedIsNoClients(t *testing.T) {
	w := watch(t)
	_, server := socket(t)
	g := w.Attend(server)
	_ = server.Close()
	testkit.Eventually(t, "it is noticed", g.Left)
	g.Release()
}

// sweepsMore waits for n sweeps.
func sweepsMore(t *testing.T, w *Watch, n uint64) {
	t.Helper()
	count := func() uint64 {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.sweeps
	}
	until := count() + n
	testkit.Eventually(t, "sweeps", func() bool { return count() >= until })
}

func BenchmarkAttend(b *testing.B) {
	w := New(nil)
	defer w.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		w.Attend(c).Release()
	}
}

// BenchmarkSweep is what a sweep costs for each client.
func BenchmarkSweep(b *testing.B) {
	const many = 500
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	var clients []*Client
	for range many {
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		if err != nil {
			b.Fatal(err)
		}
		s, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		defer s.Close()
		clients = append(clients, &Client{conn: s.(*net.TCPConn)})
	}
	var p poll
	for b.Loop() {
		p.findGone(clients)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/client")
}
