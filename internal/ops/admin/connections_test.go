package admin

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

// guest is a client on a connection of its own.
type guest struct {
	net.Conn
	r *bufio.Reader
}

// alive asks for /livez, and reports whether the answer is 200.
func (g *guest) alive() bool {
	if _, err := io.WriteString(g, "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		return false
	}
	resp, err := http.ReadResponse(g.r, nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// Connections to the admin and metrics listeners had no limit: idle ones took all descriptors of the process, and no client
// of the proxy was served any more.
func TestIdleConnectionsTookAllDescriptors(t *testing.T) {
	for name, ask := range map[string]bool{"that have asked": true, "that are silent": false} {
		synctest.Test(t, func(t *testing.T) {
			s, err := NewMetrics(MetricsOptions{
				Registry: prometheus.NewRegistry(), Ready: func() (bool, string) { return true, "" }, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
			go func() { _ = s.Serve(p) }()
			var all []*guest
			connect := func() *guest {
				ours, theirs := net.Pipe()
				p.conns <- theirs
				g := &guest{ours, bufio.NewReader(ours)}
				all = append(all, g)
				return g
			}
			first := connect()
			for range maxConnections - 1 {
				if g := connect(); ask && !g.alive() {
					t.Fatalf("%s: one within the limit is not served", name)
				}
			}
			if !first.alive() { // so that it has waited least
				t.Fatalf("%s: the first is not served", name)
			}
			synctest.Wait()
			for range 10 { // an operator
				if g := connect(); !g.alive() {
					t.Errorf("%s: one beyond the limit is not served", name)
				}
				synctest.Wait()
			}
			open := 0
			if !first.alive() {
				t.Errorf("%s: the one that has waited least was closed", name)
			}
			for _, g := range all {
				if g.alive() {
					open++
				}
			}
			if open != maxConnections {
				t.Errorf("%s: %d connections are open, want %d", name, open, maxConnections)
			}
			for _, g := range all {
				_ = g.Close()
			}
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWithoutAnIdleConnectionTheNewOneIsClosed(t *testing.T) {
	c := newConnections()
	var conns []net.Conn
	for range maxConnections + 1 {
		conn, _ := net.Pipe()
		conns = append(conns, conn)
	}
	for _, conn := range conns[:maxConnections] {
		if out := c.change(conn, http.StateNew); out != nil {
			t.Fatal("one was closed within the limit")
		}
		c.change(conn, http.StateActive)
	}
	last := conns[maxConnections]
	if out := c.change(last, http.StateNew); out != last {
		t.Errorf("got %v, want the new one", out)
	}
	c.change(last, http.StateClosed)
	c.change(conns[0], http.StateClosed)
	if out := c.change(last, http.StateNew); out != nil {
		t.Errorf("got %v where there is room again", out)
	}
	c.change(conns[1], http.StateIdle)
	fresh, _ := net.Pipe()
	if out := c.change(fresh, http.StateNew); out != last { // it waits since it came, before conns[1]
		t.Errorf("got %v, want the one that has waited for longest", out)
	}
}
