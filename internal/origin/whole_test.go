package origin

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// countedWrites counts the writes of all connections that dial makes.
type countedWrites struct{ writes atomic.Int64 }

func (c *countedWrites) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, address)
	return &countedConn{nc, c}, err
}

type countedConn struct {
	net.Conn
	count *countedWrites
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.count.writes.Add(1)
	return c.Conn.Write(p)
}

// whole is a POST of a body that is at hand.
func whole(body string) *Request {
	r := post(iotest.ErrReader(context.Canceled), int64(len(body))) // which is not to be read
	r.Whole = []byte(body)
	return r
}

// TestAWholeBodyLeavesWithItsHead: head and body of a small upload were two writes.
func TestAWholeBodyLeavesWithItsHead(t *testing.T) {
	for _, body := range []string{"a", strings.Repeat("b", MaxWhole)} {
		var count countedWrites
		o := start(t, Options{Dial: count.dial}, echo(int64(len(body))))
		for n := range 2 {
			wantBody(t, o, whole(body), body)
			if got := count.writes.Load(); got != int64(n+1) {
				t.Errorf("%d bytes: got %d writes for %d requests, want one each", len(body), got, n+1)
			}
		}
		wantSlots(t, o, 1, 1)
	}
}

// TestAWholeBodyIsSentOnce: the server that closed may have processed it.
func TestAWholeBodyIsSentOnce(t *testing.T) {
	o := startWarm(t, Options{}, func(_ int, p *peer) { p.request() })
	_, err := o.RoundTrip(t.Context(), whole("a"))
	wantKind(t, err, Cut)
	wantSlots(t, o, 0, 0)
}

func TestAWholeBodyIsAsLongAsAnnounced(t *testing.T) {
	o := start(t, Options{}, echo(1))
	for name, r := range map[string]*Request{
		"short": {Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("a"), ContentLength: 2, Whole: []byte("a")},
		"long":  {Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("a"), ContentLength: 0, Whole: []byte("a")},
		"large": whole(strings.Repeat("a", MaxWhole+1)),
		"none":  {Method: "POST", Target: "/", Host: "h", Whole: []byte{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.RoundTrip(t.Context(), r)
			wantKind(t, err, BadRequest)
		})
	}
}
