package proxy_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/test/edgetest"
)

// takenOver is a listener whose connections call meanwhile before the server hands them
// over: it takes their deadlines away just then, and the proxy does so before.
type takenOver struct {
	net.Listener
	meanwhile func()
}

func (l *takenOver) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &takenOverConn{Conn: c, meanwhile: l.meanwhile}, nil
}

type takenOverConn struct {
	net.Conn
	meanwhile func()
	freed     int
}

func (c *takenOverConn) SetDeadline(at time.Time) error {
	if c.freed++; c.freed == 2 {
		c.meanwhile()
	}
	return c.Conn.SetDeadline(at)
}

// TestEndUpgradedMeetsOneThatIsBeingHandedOver: its connection was closed before the server
// had handed it over, which it then did not do. Nobody recorded the request or ended the
// tunnel, and EndUpgraded waited for good.
func TestEndUpgradedMeetsOneThatIsBeingHandedOver(t *testing.T) {
	cut, ended := make(chan struct{}), make(chan int, 1)
	var e *edgetest.Edge
	meanwhile := func() {
		go func() { ended <- e.Proxy.EndUpgraded() }()
		<-cut
	}
	app := edgetest.StartOrigin(t, nil, consents(func(c *edgetest.Conn) {
		_, _ = io.Copy(io.Discard, c.Rest())
		close(cut)
	}))
	e = start(t, "", edgetest.Options{Origin: app.Address, Seams: edge.Seams{Listen: func(string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		return &takenOver{l, meanwhile}, err
	}}})
	s := dial(t, e.Address)
	if res, err := s.head(asks101); err == nil && res.StatusCode == http.StatusSwitchingProtocols {
		t.Error("got a 101 after the end")
	}
	select {
	case n := <-ended:
		if n != 1 {
			t.Errorf("ended %d, want 1", n)
		}
	case <-time.After(patience):
		t.Fatal("EndUpgraded does not end")
	}
	eventually(t, "nothing is in flight", func() bool { return e.Proxy.InFlight() == 0 })
}
