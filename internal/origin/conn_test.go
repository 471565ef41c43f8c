package origin

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// dialled returns a real connection whose other end plays s.
func dialled(t *testing.T, s script) *conn {
	t.Helper()
	nc, err := net.Dial("tcp", loopback(t, s))
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(nc)
	t.Cleanup(c.close)
	c.expires = time.Now().Add(time.Hour)
	return c
}

func TestUsable(t *testing.T) {
	c := dialled(t, func(_ int, p *peer) { p.untilClosed() })
	now := time.Now()
	if !c.usable(now) {
		t.Error("quiet connection: got unusable")
	}
	if c.usable(c.expires) {
		t.Error("expired connection: got usable")
	}
	c.close()
	if c.usable(now) {
		t.Error("closed connection: got usable")
	}

	c = dialled(t, func(_ int, p *peer) { p.say("stray"); p.untilClosed() })
	eventually(t, "bytes on the socket are seen", func() bool { return !c.usable(now) })
	if b, err := c.br.Peek(5); string(b) != "stray" || err != nil {
		t.Errorf("got %q and error %v, want what was looked at to be there still", b, err)
	}
	if c.usable(now) {
		t.Error("bytes in the buffer: got usable")
	}

	c = dialled(t, func(int, *peer) {})
	eventually(t, "the end is seen", func() bool { return !c.usable(now) })
}

// A deadline of the exchange before, passed by now, must not spoil a connection.
func TestRestClearsDeadlines(t *testing.T) {
	c := dialled(t, func(_ int, p *peer) { p.untilClosed() })
	if err := c.nc.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := c.prepareIdle(); err != nil || !c.usable(time.Now()) {
		t.Errorf("got error %v and usable %v, want none and true", err, c.usable(time.Now()))
	}
	c.close()
	if err := c.prepareIdle(); err == nil {
		t.Error("closed connection: got no error")
	}
}

func TestPutOfAClosedConnectionFreesItsSlot(t *testing.T) {
	o := open(t, Options{Settings: Settings{MaxConnections: 1}})
	s, err := o.pool.take(t.Context(), netip.Prefix{}, 0, nil)
	if s.c != nil || err != nil {
		t.Fatalf("got %v and error %v, want the right to dial", s.c, err)
	}
	c := dialled(t, func(_ int, p *peer) { p.untilClosed() })
	c.server = s.server
	c.close()
	o.pool.put(c, time.Minute, time.Now())
	if openCount(o) != 0 || idleCount(o) != 0 {
		t.Errorf("got %d slots in use and %d idle connections, want none", openCount(o), idleCount(o))
	}
}
