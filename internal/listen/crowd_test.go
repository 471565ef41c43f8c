package listen

import (
	"io"
	"net"
	"strings"
	"testing"
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

func TestCrowdBoundsTheConnectionsOfEachClient(t *testing.T) {
	c := NewCrowd(2, nil)
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
		if got := c.enter(server); got != want {
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
	if got := c.Refused(); got != 3 {
		t.Errorf("got %d refused, want 3", got)
	}
	c.Leave(first)
	enter("192.0.2.1", true)
	enter("192.0.2.1", false)
}

func TestCrowdForgetsWhoHasLeft(t *testing.T) {
	c := NewCrowd(1, nil)
	for range 3 {
		server, _ := conn(t, "192.0.2.1")
		if !c.enter(server) {
			t.Fatal("refused, want a place")
		}
		c.Leave(server)
	}
	if len(c.open) != 0 {
		t.Errorf("got %v, want nobody", c.open)
	}
}

func TestCrowdCountsNobodyWithoutAnAddress(t *testing.T) {
	c := NewCrowd(1, nil)
	for range 3 {
		_, s := net.Pipe()
		if !c.enter(s) {
			t.Error("refused, want a place")
		}
		c.Leave(s)
	}
	var none *Crowd
	server, _ := conn(t, "192.0.2.1")
	if !none.enter(server) {
		t.Error("no crowd: refused, want a place")
	}
	none.Leave(server)
}
