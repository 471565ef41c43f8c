package edge

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/config"
)

// balanced is an edge behind load balancers: on listener 0 over TCP and on 1 through a
// socket they speak the PROXY protocol, on 2 they do not.
type balanced struct {
	*Edge
	asked chan http.Header // what the origin got
	log   string           // access log

	mu    sync.Mutex
	conns []net.Conn // all that there were
}

func startBalanced(t *testing.T) *balanced {
	t.Helper()
	b := &balanced{asked: make(chan http.Header, 10), log: filepath.Join(t.TempDir(), "access.log")}
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked <- r.Header
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/endless" {
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(app.Close)
	c, err := config.Parse("edge.yaml", fmt.Appendf(nil, `
listen:
  - {address: "127.0.0.1:0", proxy_protocol: true, trusted_proxies: [192.0.2.0/24]}
  - {address: "unix:%s", proxy_protocol: true}
  - {address: "127.0.0.1:0"}
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
purge: {allow: [192.0.2.1]}
limits: {connections_per_address: 2, header_timeout: 2m}
shutdown: {drain_timeout: 2m}
access_log: {path: %q}
`, filepath.Join(t.TempDir(), "edge.sock"), app.URL, b.log))
	if err != nil {
		t.Fatal(err)
	}
	b.Edge = built(t, c, Options{})
	for _, d := range b.listeners {
		count := d.state
		d.state = func(conn net.Conn, state http.ConnState) {
			if state == http.StateNew {
				b.mu.Lock()
				b.conns = append(b.conns, conn)
				b.mu.Unlock()
			}
			count(conn, state)
		}
	}
	if err := b.Listen(); err != nil {
		t.Fatal(err)
	}
	b.Start()
	return b
}

// balancer is a load balancer's connection.
type balancer struct {
	t *testing.T
	net.Conn
	answers *bufio.Reader
}

// dial connects to a listener. What is said first goes with the first request.
func (b *balanced) dial(t *testing.T, listener int) *balancer {
	t.Helper()
	addr := b.listeners[listener].listener.Addr()
	conn, err := net.DialTimeout(addr.Network(), addr.String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &balancer{t, conn, bufio.NewReader(conn)}
}

// ask sends text in one piece and wants an answer with status.
func (l *balancer) ask(text string, status int) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
	res, err := http.ReadResponse(l.answers, nil)
	if err != nil {
		l.t.Fatalf("%q: %v", text, err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status || status == http.StatusOK && strings.HasPrefix(text, "GET") && string(body) != "hello" {
		l.t.Errorf("%q: got %d %q, %v, want %d", text, res.StatusCode, body, err, status)
	}
}

const (
	balancedGet   = "GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 6.6.6.6, 203.0.113.5\r\n\r\n"
	balancedPurge = "PURGE /a HTTP/1.1\r\nHost: h\r\n\r\n"
)

// v2TCP4 is a header of version 2 whose client is 192.0.2.77.
const v2TCP4 = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x4d\x0a\x00\x00\x01\xdd\xd5\x00\x50"

func TestTheClientIsTheOneThatPROXYTells(t *testing.T) {
	b := startBalanced(t)
	f := func(listener int, header, want string) {
		t.Helper()
		l := b.dial(t, listener)
		for i := range 3 { // requests of one connection
			l.ask(header+balancedGet, http.StatusOK)
			header = ""
			if got := (<-b.asked).Get("X-Forwarded-For"); got != want {
				t.Errorf("listener %d, request %d: the origin got X-Forwarded-For %q, want %q", listener, i, got, want)
			}
		}
		_ = l.Close()
	}
	f(0, "PROXY TCP4 192.0.2.1 10.0.0.1 1 80\r\n", "203.0.113.5, 192.0.2.1") // trusted
	f(0, v2TCP4, "203.0.113.5, 192.0.2.77")
	f(0, "PROXY TCP4 198.51.100.7 10.0.0.1 1 80\r\n", "198.51.100.7")
	f(0, "PROXY TCP6 2001:db8::1 ::1 1 80\r\n", "2001:db8::1")
	f(0, "PROXY UNKNOWN\r\n", "127.0.0.1")
	f(1, "PROXY TCP4 198.51.100.8 10.0.0.1 1 80\r\n", "198.51.100.8")
	f(1, "PROXY UNKNOWN\r\n", "")
	f(2, "", "127.0.0.1")

	once := func(listener int, text string, status int) {
		t.Helper()
		l := b.dial(t, listener)
		l.ask(text, status)
		_ = l.Close() // the server waits for it for a while
	}
	// The body of /endless comes by a connection that the server has handed over.
	once(0, "PROXY TCP4 198.51.100.9 10.0.0.1 1 80\r\nGET /endless HTTP/1.0\r\nHost: h\r\n\r\n", http.StatusOK)
	<-b.asked
	once(0, "PROXY TCP4 198.51.100.10 10.0.0.1 1 80\r\nGET / HTTP/1.1\r\nHost : h\r\n\r\n", http.StatusBadRequest)
	b.dial(t, 0).ask("PROXY TCP4 192.0.2.1 10.0.0.1 1 80\r\n"+balancedPurge, http.StatusOK)
	b.dial(t, 0).ask("PROXY TCP4 192.0.2.2 10.0.0.1 1 80\r\n"+balancedPurge, http.StatusForbidden)
	once(2, "PROXY TCP4 192.0.2.1 10.0.0.1 1 80\r\n"+balancedGet, http.StatusBadRequest)

	eventually(t, "what was told is forgotten", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		known := 0
		for _, conn := range b.conns {
			if _, told := b.peers.Of(conn); told {
				known++
			}
		}
		return known <= 2 // the purges' connections are open
	})
	b.Stop(t.Context()) // writes the log to its end
	text, err := os.ReadFile(b.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"203.0.113.5", "198.51.100.7", "2001:db8::1", "127.0.0.1", "198.51.100.8", "198.51.100.9", "198.51.100.10", "192.0.2.2"} {
		if !strings.Contains(string(text), `"client":"`+client+`"`) {
			t.Errorf("the access log has no client %s:\n%s", client, text)
		}
	}
}

func TestConnectionsAreCountedByWhoPROXYTells(t *testing.T) {
	b := startBalanced(t)
	header := func(i int) string { return fmt.Sprintf("PROXY TCP4 198.51.100.%d 10.0.0.1 1 80\r\n", i) }
	for i := range 5 { // connections of one load balancer
		b.dial(t, 0).ask(header(i)+balancedGet, http.StatusOK)
		<-b.asked
	}
	open := b.connections.Load()
	second := b.dial(t, 0)
	_, _ = io.WriteString(second, header(9))
	_, _ = io.WriteString(b.dial(t, 0), header(9))
	eventually(t, "both are connected", func() bool { return b.connections.Load() == open+2 })
	b.dial(t, 0).ask(header(9), http.StatusTooManyRequests)
	_ = second.Close()
	eventually(t, "there is a place again", func() bool {
		l := b.dial(t, 0)
		_, _ = io.WriteString(l, header(9)+balancedGet)
		res, err := http.ReadResponse(l.answers, nil)
		return err == nil && res.StatusCode == http.StatusOK
	})
}

func TestAListenerWithPROXYTakesNoOthers(t *testing.T) {
	b := startBalanced(t)
	silent := b.dial(t, 0)
	for _, said := range []string{balancedGet, "PROXY TCP4 nobody 10.0.0.1 1 80\r\n" + balancedGet} {
		l := b.dial(t, 0)
		_, _ = io.WriteString(l, said)
		if answer, _ := io.ReadAll(l); len(answer) > 0 {
			t.Errorf("%q: got %q, want the connection closed", said, answer)
		}
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.Stop(t.Context())
	}()
	select {
	case <-stopped:
	case <-time.After(patience): // drain_timeout is longer
		t.Fatal("a silent connection holds up the stop")
	}
	if answer, _ := io.ReadAll(silent); len(answer) > 0 {
		t.Errorf("silent: got %q, want the connection closed", answer)
	}
	if len(b.asked) > 0 {
		t.Errorf("the origin was asked %d times, want never", len(b.asked))
	}
}
