package proxy_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/test/edgetest"
)

// written keeps each write to an origin.
type written struct {
	mu     sync.Mutex
	writes []string
}

func (w *written) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, address)
	return &writtenConn{nc, w}, err
}

type writtenConn struct {
	net.Conn
	to *written
}

func (c *writtenConn) Write(p []byte) (int, error) {
	c.to.mu.Lock()
	c.to.writes = append(c.to.writes, string(p))
	c.to.mu.Unlock()
	return c.Conn.Write(p)
}

// TestASmallUploadLeavesInOneWrite: its head left by itself, and then its body.
func TestASmallUploadLeavesInOneWrite(t *testing.T) {
	for _, size := range []int{1, 1000, origin.MaxWhole} {
		var to written
		seen := &recordingOrigin{}
		app := edgetest.StartOrigin(t, nil, seen.script)
		e := start(t, "", edgetest.Options{Origin: app.Address, Seams: edge.Seams{Connect: to.dial}})
		body := strings.Repeat("b", size)
		s := dial(t, e.Address)
		if _, err := fmt.Fprintf(s, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, body); err != nil {
			t.Fatal(err)
		}
		if a := s.read(); a.status != 200 {
			t.Errorf("%d bytes: got %d %v, want 200", size, a.status, a.err)
		}
		if got, _ := seen.take(); fmt.Sprint(got) != "[POST h /a "+body+"]" {
			t.Errorf("%d bytes: the origin got %.80q", size, got)
		}
		to.mu.Lock()
		if len(to.writes) != 1 || !strings.HasSuffix(to.writes[0], "\r\n\r\n"+body) {
			t.Errorf("%d bytes: got %d writes, want one of head and body", size, len(to.writes))
		}
		to.mu.Unlock()
	}
}
