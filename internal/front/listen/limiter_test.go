package listen

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// from is a connection from an address.
type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

func conn(t *testing.T, ip string) (server net.Conn, client net.Conn) {
	t.Helper()
	client, s := net.Pipe()
	t.Cleanup(func() { _, _ = client.Close(), s.Close() })
	return from{s, &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}, client
}

// empty checks that nothing of a connection is left.
func (c *ConnLimiter) empty(t *testing.T) {
	t.Helper()
	known := 0
	c.connTable.others.Range(func(any, any) bool { known++; return true })
	for i := range c.connTable.slots {
		if c.connTable.slots[i].Load() != nil {
			known++
		}
	}
	if len(c.all.conns) != 0 || len(c.clients) != 0 || c.silent.len() != 0 || len(c.silent.all.byName) != 0 || known != 0 {
		t.Errorf("still there: %d of all, %v, %d silent, %d known", len(c.all.conns), c.clients, c.silent.len(), known)
	}
}

func TestCrowdBoundsTheConnectionsOfEachClient(t *testing.T) {
	c := NewConnLimiter(ConnLimits{PerAddress: 2}, nil)
	enter := func(ip string, want bool) net.Conn {
		t.Helper()
		server, client := conn(t, ip)
		said := make(chan string, 1)
		if !want {
			go func() {
				text, _ := io.ReadAll(client)
				said <- string(text)
			}()
		}
		if got := c.admit(server, true); got != want {
			t.Errorf("%s: got %v, want %v", ip, got, want)
		}
		if !want {
			if text := <-said; !strings.HasPrefix(text, "HTTP/1.1 429 ") {
				t.Errorf("%s: got %q, want a 429", ip, text)
			}
		}
		return server
	}
	first := enter("192.0.2.1", true)
	enter("192.0.2.1", true)
	enter("192.0.2.1", false)
	enter("::ffff:192.0.2.1", false)
	enter("192.0.2.2", true)
	// An IPv6 client has its /64.
	enter("2001:db8::1", true)
	enter("2001:db8::2", true)
	enter("2001:db8:0:0:ffff::3", false)
	enter("2001:db8:0:1::1", true)
	if _, got := c.Refused(); got != 3 {
		t.Errorf("got %d refused, want 3", got)
	}
	c.Leave(first)
	enter("192.0.2.1", true)
	enter("192.0.2.1", false)
}

// slowly is a connection whose goroutine has to wait for a processor after it has set a deadline.
type slowly struct{ from }

func (s slowly) SetWriteDeadline(t time.Time) error {
	err := s.from.SetWriteDeadline(t)
	time.Sleep(50 * time.Millisecond)
	return err
}

// On a busy machine the time for the answer was over before it was written, and the client was closed without one.
func TestARefusalWithoutAProcessorLostItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewConnLimiter(ConnLimits{PerAddress: 1}, nil)
		first, _ := conn(t, "192.0.2.1")
		if !c.admit(first, true) {
			t.Fatal("refused, want a place")
		}
		second, client := conn(t, "192.0.2.1")
		said := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(client)
			said <- string(text)
		}()
		if c.admit(slowly{second.(from)}, true) {
			t.Error("got a place, want none")
		}
		if text := <-said; !strings.HasPrefix(text, "HTTP/1.1 429 ") {
			t.Errorf("got %q, want a 429", text)
		}
	})
}

func TestCrowdForgetsWhoHasLeft(t *testing.T) {
	c := NewConnLimiter(ConnLimits{PerAddress: 1}, nil)
	for range 3 {
		server, _ := conn(t, "192.0.2.1")
		if !c.admit(server, true) {
			t.Fatal("refused, want a place")
		}
		c.Leave(server)
	}
	c.empty(t)
}

func TestCrowdCountsNobodyWithoutAnAddress(t *testing.T) {
	c := NewConnLimiter(ConnLimits{PerAddress: 1}, nil)
	for range 3 {
		_, s := net.Pipe()
		if !c.admit(s, true) {
			t.Error("refused, want a place")
		}
		c.Leave(s)
	}
	var none *ConnLimiter
	server, _ := conn(t, "192.0.2.1")
	if !none.admit(server, true) {
		t.Error("no limiter: refused, want a place")
	}
	none.Leave(server)
}

// TestCrowdBoundsAllTogether: all clients, also those without an address.
func TestCrowdBoundsAllTogether(t *testing.T) {
	c := NewConnLimiter(ConnLimits{Connections: 3, PerAddress: 2}, nil)
	first, _ := conn(t, "192.0.2.1")
	second, _ := conn(t, "192.0.2.2")
	_, nobody := net.Pipe()
	for _, server := range []net.Conn{first, second, nobody} {
		if !c.admit(server, true) {
			t.Fatal("refused, want a place")
		}
	}
	refuse := func(tell bool, want string) {
		t.Helper()
		server, client := conn(t, "192.0.2.3")
		said := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(client)
			said <- string(text)
		}()
		if c.admit(server, tell) {
			t.Error("got a place, want none")
		}
		if text := <-said; !strings.HasPrefix(text, want) || want == "" && text != "" {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	refuse(true, "HTTP/1.1 503 ")
	refuse(false, "")
	if all, one := c.Refused(); all != 2 || one != 0 {
		t.Errorf("got %d and %d refused, want 2 and 0", all, one)
	}
	c.Leave(nobody)
	if third, _ := conn(t, "192.0.2.1"); !c.admit(third, true) {
		t.Error("refused, want the place of the one that left")
	}
	refuse(true, "HTTP/1.1 503 ")
}
