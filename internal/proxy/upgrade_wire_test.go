package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// asks101 is a request for a WebSocket, switched101 an origin's consent.
const (
	asks101     = "GET /ws HTTP/1.1\r\nHost: edge.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n"
	switched101 = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade, X-Hop\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\nX-Hop: 1\r\nCache-Tag: t\r\nKeep-Alive: timeout=5\r\n\r\n"
)

// consents switches every request that asks for it, and has then serve what follows.
// It answers others with 200.
func consents(then func(*edgetest.Conn)) func(*edgetest.Conn) {
	return func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			if r.Header.Get("Upgrade") == "" {
				c.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			c.Say(switched101)
			then(c)
			return
		}
	}
}

// echoes says back what comes, to its end.
func echoes(c *edgetest.Conn) {
	_, _ = io.Copy(c, c.Rest())
	closeWrite(c.Conn)
}

func closeWrite(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() }

// resetNow ends a connection as a process does that dies with unread bytes.
func resetNow(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// upgrade asks for an upgrade, with more behind the request, and reads the 101.
func (s *socket) upgrade(t testing.TB, more string) {
	t.Helper()
	res, err := s.head(asks101 + more)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v, %v, want a 101", res, err)
	}
}

// exchange sends s and waits for the same.
func (s *socket) exchange(t testing.TB, text string) {
	t.Helper()
	go func() { _, _ = io.WriteString(s, text) }()
	s.wantNext(t, text)
}

func (s *socket) wantNext(t testing.TB, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(s.r, got); err != nil || string(got) != want {
		t.Fatalf("got %d bytes %.40q, %v; want %d bytes %.40q", n, got[:n], err, len(want), want)
	}
}

// wantEnd wants nothing more, and an end in one way or the other.
func (s *socket) wantEnd(t testing.TB) {
	t.Helper()
	b, err := io.ReadAll(s.r)
	if len(b) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q and %v, want the end", b, err)
	}
}

// wantNoTunnels waits until no connection is upgraded.
func wantNoTunnels(t testing.TB, e *edgetest.Edge) {
	t.Helper()
	eventually(t, "no connection is upgraded", func() bool { return e.Proxy.Upgraded() == 0 })
}

func TestUpgradeIsTunnelledAndCounted(t *testing.T) {
	asked := make(chan *edgetest.Request, 1)
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		asked <- c.Next()
		c.Say(switched101)
		echoes(c)
	})
	s := dial(t, e.Address)
	res, err := s.head(asks101)
	if err != nil {
		t.Fatal(err)
	}
	h := res.Header
	for name, want := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Accept": "a", "Via": "1.1 " + nodeName,
		"Cache-Status": nodeName + "; fwd=request; detail=upgrade", "X-Hop": "", "Cache-Tag": "", "Keep-Alive": "", "Content-Length": "", "Transfer-Encoding": "",
	} {
		if got := strings.Join(h.Values(name), ", "); got != want {
			t.Errorf("the client got %s: %q, want %q", name, got, want)
		}
	}
	if r := <-asked; r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-Websocket-Key") != "k" {
		t.Errorf("the origin got %v", r.Header)
	}
	text := strings.Repeat("0123456789abcdef", 64<<10)
	s.exchange(t, "a")
	s.exchange(t, text)
	if n := e.Proxy.Upgraded(); n != 1 {
		t.Errorf("got %d upgraded connections, want 1", n)
	}
	closeWrite(s.Conn)
	s.wantEnd(t)
	wantNoTunnels(t, e)
	eventually(t, "the request is recorded", func() bool { return e.Proxy.InFlight() == 0 })
	for name, want := range map[string]struct {
		labels []string
		value  float64
	}{
		"edgeproxy_requests_total":         {[]string{"route=default", "result=pass", "status=1xx"}, 1},
		"edgeproxy_response_bytes_total":   {[]string{"route=default", "result=pass"}, float64(1 + len(text))},
		"edgeproxy_origin_bytes_total":     {[]string{"origin=app"}, float64(1 + len(text))},
		"edgeproxy_origin_requests_total":  {[]string{"origin=app", "outcome=ok"}, 1},
		"edgeproxy_origin_connections":     {[]string{"origin=app", "state=upgraded"}, 0},
		"edgeproxy_cache_writes_total":     {[]string{"tier=memory"}, 0},
		"edgeproxy_requests_in_flight":     {nil, 0},
		"edgeproxy_first_byte_seconds":     {[]string{"route=default", "result=pass"}, 1},
		"edgeproxy_limit_rejections_total": {[]string{"limit=requests_in_flight"}, 0},
	} {
		if got := e.Metric(t, name, want.labels...); got != want.value {
			t.Errorf("%s %v: got %v, want %v", name, want.labels, got, want.value)
		}
	}
}

// TestUpgradeEarlyBytes: what stands in the packet of the request, or of the 101, is
// the first of what is tunnelled.
func TestUpgradeEarlyBytes(t *testing.T) {
	e, _ := startBefore(t, "", func(c *edgetest.Conn) {
		c.Next()
		c.Say(switched101 + "origin first, ")
		echoes(c)
	})
	s := dial(t, e.Address)
	s.upgrade(t, "client first")
	s.wantNext(t, "origin first, client first")
	s.exchange(t, "and on")
}

// TestUpgradeRefused: the origin's refusal is an ordinary answer. What the client sends
// behind it is a request like any other, and what the origin sends behind it reaches
// nobody.
func TestUpgradeRefused(t *testing.T) {
	for _, status := range []string{"200 OK", "403 Forbidden", "426 Upgrade Required"} {
		w := &recordingOrigin{}
		var conns atomic.Int32
		e, _ := startBefore(t, always, func(c *edgetest.Conn) {
			if conns.Add(1) == 1 {
				c.Next()
				c.Say("HTTP/1.1 " + status + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
				c.UntilClosed()
				return
			}
			w.script(c)
		})
		s := dial(t, e.Address)
		_, _ = io.WriteString(s, asks101+asGet("/behind")+"frame \x81\x00\r\n\r\n")
		a := s.read()
		if want := status[:3]; a.err != nil || fmt.Sprint(a.status) != want || a.body != "no" || a.header.Get("Upgrade") != "" {
			t.Errorf("got %+v, want %s and no", a, want)
		}
		s.read().want(t, 200, "fwd=uri-miss; detail=no-freshness", "")
		if a := s.read(); a.status != http.StatusBadRequest {
			t.Errorf("what is no request: got %+v, want a 400", a)
		}
		s.wantEnd(t)
		if seen, head := w.take(); len(seen) != 1 || seen[0] != "GET edge.test /behind " || head.Get("Via") == "" {
			t.Errorf("the origin got %q with %v, want /behind alone, through the gate", seen, head)
		}
		if n := e.Metric(t, "edgeproxy_cache_objects", "tier=memory"); n != 0 {
			t.Errorf("%v objects are stored, want none", n)
		}
	}
}

// TestUpgradeByTheOriginAlone: a 101 that is no consent is a failure of the origin, and
// the end of its connection.
func TestUpgradeByTheOriginAlone(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	f := func(request, answer string) {
		t.Helper()
		closed := make(chan struct{})
		e, _ := startBefore(t, "", func(c *edgetest.Conn) {
			r := c.Next()
			if r == nil || r.URL.Path == "/next" {
				c.Say("HTTP/1.1 204 No Content\r\n\r\n")
				return
			}
			c.Say(answer + ok)
			c.UntilClosed()
			close(closed)
		})
		s := dial(t, e.Address)
		s.ask(request).want(t, 502, "fwd=request; detail=origin-error", "Bad Gateway\n")
		<-closed
		if a := s.ask(asGet("/next")); a.status != 204 {
			t.Errorf("after %q: got %+v, want 204", answer, a)
		}
	}
	f(asks101, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
	f(asks101, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
	f(asks101, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
	f(strings.Replace(asks101, "Upgrade: websocket", "Upgrade: h2c", 1), "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
}

// TestUpgradeNotForwarded: what cannot be switched, or would carry requests past the
// gate, goes on as if the client had not asked.
func TestUpgradeNotForwarded(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, "", w.script)
	const rest = " /a HTTP/1.1\r\nHost: edge.test\r\n"
	f := func(head string) {
		t.Helper()
		body := ""
		if strings.Contains(head, "Content-Length") {
			body = "x"
		}
		if a := ask(t, e, head+"Connection: close\r\n\r\n"+body); a.status != 200 {
			t.Errorf("%q: got %+v, want 200", head, a)
		}
		_, h := w.take()
		if h == nil || h.Get("Upgrade") != "" || strings.Contains(strings.ToLower(h.Get("Connection")), "upgrade") || h.Get("Http2-Settings") != "" {
			t.Errorf("%q: the origin got %v", head, h)
		}
	}
	const connection = "Connection: Upgrade\r\n"
	for _, protocols := range []string{
		"h2c", "H2C", "h2", "websocket, h2c", "h2c, websocket", "h2c/1", "HTTP/2.0", "TLS/1.0", "", ",", "websocket,", "a b", "web socket", "\"websocket\"", "websocket/", "a/b/c",
		"websocket\r\nUpgrade: websocket", "websocket\r\nUpgrade: other",
	} {
		f("GET" + rest + connection + "Upgrade: " + protocols + "\r\n")
	}
	f("GET" + rest + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n")
	f("GET" + rest + "HTTP2-Settings: AAMAAABk\r\n")
	f("GET" + rest + "HTTP2_Settings: AAMAAABk\r\n")
	f("GET" + rest + "Upgrade: websocket\r\n")
	f("GET /a HTTP/1.0\r\nHost: edge.test\r\n" + connection + "Upgrade: websocket\r\n")
	f("GET" + rest + connection + "Upgrade: websocket\r\nContent-Length: 1\r\n")
	f("POST" + rest + connection + "Upgrade: websocket\r\nContent-Length: 1\r\n")
}

// TestUpgradeOfOtherMethods: only CONNECT is none of ours.
func TestUpgradeOfOtherMethods(t *testing.T) {
	e, _ := startBefore(t, "", consents(echoes))
	for _, method := range []string{"GET", "POST", "OPTIONS", "HEAD"} {
		s := dial(t, e.Address)
		res, err := s.head(strings.Replace(asks101, "GET", method, 1))
		if err != nil || res.StatusCode != 101 {
			t.Errorf("%s: got %v, %v, want 101", method, res, err)
			continue
		}
		s.exchange(t, "to and fro")
	}
}

func TestUpgradeEndsByHalves(t *testing.T) {
	t.Run("client first", func(t *testing.T) {
		e, _ := startBefore(t, "", consents(func(c *edgetest.Conn) {
			all, _ := io.ReadAll(c.Rest())
			c.Say("got " + string(all))
		}))
		s := dial(t, e.Address)
		s.upgrade(t, "all of it")
		closeWrite(s.Conn)
		s.wantNext(t, "got all of it")
		s.wantEnd(t)
		wantNoTunnels(t, e)
	})
	t.Run("origin first", func(t *testing.T) {
		got := make(chan string, 1)
		e, _ := startBefore(t, "", consents(func(c *edgetest.Conn) {
			c.Say("over")
			closeWrite(c.Conn)
			all, _ := io.ReadAll(c.Rest())
			got <- string(all)
		}))
		s := dial(t, e.Address)
		s.upgrade(t, "")
		s.wantNext(t, "over")
		s.wantEnd(t)
		_, _ = io.WriteString(s, "and out")
		closeWrite(s.Conn)
		if g := <-got; g != "and out" {
			t.Errorf("the origin got %q, want %q", g, "and out")
		}
		wantNoTunnels(t, e)
	})
}

// TestUpgradeEndsWithEitherSide: a side that is gone ends both.
func TestUpgradeEndsWithEitherSide(t *testing.T) {
	for name, die := range map[string]func(net.Conn){"closed": func(c net.Conn) { _ = c.Close() }, "reset": resetNow} {
		t.Run("origin "+name, func(t *testing.T) {
			e, _ := startBefore(t, "", consents(func(c *edgetest.Conn) { die(c.Conn) }))
			s := dial(t, e.Address)
			s.upgrade(t, "")
			s.wantEnd(t)
			_ = s.Close()
			wantNoTunnels(t, e)
		})
		t.Run("client "+name, func(t *testing.T) {
			ended := make(chan struct{})
			e, _ := startBefore(t, "", consents(func(c *edgetest.Conn) {
				echoes(c)
				close(ended)
			}))
			s := dial(t, e.Address)
			s.upgrade(t, "")
			s.exchange(t, "here")
			die(s.Conn)
			<-ended
			wantNoTunnels(t, e)
		})
	}
}

// TestUpgradeEndsWhenOneSideStopsReading: a side that does not read holds up the other, and
// is let go after its limit.
func TestUpgradeEndsWhenOneSideStopsReading(t *testing.T) {
	const limit = "300ms"
	var pushed atomic.Int64
	push := func(c net.Conn) {
		piece := make([]byte, 64<<10)
		for {
			n, err := c.Write(piece)
			pushed.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	bounded := func(t *testing.T) {
		t.Helper()
		if n := pushed.Swap(0); n > 64<<20 {
			t.Errorf("%d bytes were taken from who sends, and none were read", n)
		}
	}
	t.Run("client", func(t *testing.T) {
		ended := make(chan struct{})
		e, _ := startBefore(t, "limits: {write_idle_timeout: "+limit+"}", consents(func(c *edgetest.Conn) {
			push(c.Conn)
			close(ended)
		}))
		dial(t, e.Address).upgrade(t, "")
		<-ended
		bounded(t)
		wantNoTunnels(t, e)
	})
	t.Run("origin", func(t *testing.T) {
		over := make(chan struct{})
		e, _ := startBefore(t, `origins: {app: {servers: ["http://{origin}"], idle_timeout: `+limit+"}}", consents(func(*edgetest.Conn) { <-over }))
		s := dial(t, e.Address)
		s.upgrade(t, "")
		push(s.Conn)
		bounded(t)
		wantNoTunnels(t, e)
		close(over)
	})
}

// TestTunnelsAreNotRequestsInFlight: each held one in requests_in_flight as long as it lived,
// so WebSockets kept the misses of others out.
func TestTunnelsAreNotRequestsInFlight(t *testing.T) {
	e, _ := startBefore(t, `
limits: {requests_in_flight: 1}
origins: {app: {servers: ["http://{origin}"], max_connections: 1}}
`, consents(echoes))
	for range 3 {
		s := dial(t, e.Address)
		s.upgrade(t, "")
		if a := ask(t, e, asGet("/a")); a.status != 200 {
			t.Errorf("beside an upgraded connection: got %+v, want 200", a)
		}
		s.exchange(t, "still here")
	}
}

// TestTunnelsHaveALimitOfTheirOwn: beyond it upgrades are refused, and nothing else.
func TestTunnelsHaveALimitOfTheirOwn(t *testing.T) {
	e, _ := startBefore(t, "limits: {tunnels: 2, origin_share: 1}", consents(echoes))
	first := dial(t, e.Address)
	first.upgrade(t, "")
	second := dial(t, e.Address)
	second.upgrade(t, "")
	ask(t, e, asks101).want(t, 503, "detail=overload", "Service Unavailable\n")
	if a := ask(t, e, asGet("/a")); a.status != 200 {
		t.Errorf("no upgrade: got %+v, want 200", a)
	}
	_ = first.Close()
	eventually(t, "one has ended", func() bool { return e.Proxy.InFlight() == 1 })
	third := dial(t, e.Address)
	third.upgrade(t, "")
	third.exchange(t, "in its place")
	second.exchange(t, "still here")
	if got := e.Metric(t, "edgeproxy_limit_rejections_total", "limit=tunnels"); got != 1 {
		t.Errorf("got %v refusals counted, want 1", got)
	}
}

// TestWhatIsNotSwitchedHoldsNoTunnel: an origin that answers otherwise, or not at all.
func TestWhatIsNotSwitchedHoldsNoTunnel(t *testing.T) {
	e, _ := startBefore(t, "limits: {tunnels: 1}", func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			if r.RequestURI == "/break" {
				return
			}
			c.Say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
		}
	})
	for range 3 {
		ask(t, e, asks101).want(t, 200, "fwd=request; detail=upgrade", "no")
		ask(t, e, strings.Replace(asks101, "GET /ws", "GET /break", 1)).want(t, 502, "fwd=request; detail=origin-error", "Bad Gateway\n")
	}
}

// TestOneClientDoesNotHoldEveryTunnel: it has only its share while they are scarce.
func TestOneClientDoesNotHoldEveryTunnel(t *testing.T) {
	e, _ := startBefore(t, behindProxies+"limits: {tunnels: 8, origin_share: 0.25}", consents(echoes))
	for range 7 {
		dial(t, e.Address).upgrade(t, "")
	}
	ask(t, e, asks101).want(t, 429, "detail=client-share", "Too Many Requests\n")
	other := strings.Replace(asks101, "\r\n\r\n", "\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n", 1)
	if res, err := dial(t, e.Address).head(other); err != nil || res.StatusCode != 101 {
		t.Errorf("another client: got %v, %v, want 101", res, err)
	}
}

// TestEndUpgraded: none is left, and none comes again.
func TestEndUpgraded(t *testing.T) {
	var left sync.WaitGroup
	left.Add(3)
	e, _ := startBefore(t, "", consents(func(c *edgetest.Conn) {
		echoes(c)
		left.Done()
	}))
	var all []*socket
	for range 3 {
		s := dial(t, e.Address)
		s.upgrade(t, "")
		s.exchange(t, "a")
		all = append(all, s)
	}
	if n := e.Proxy.EndUpgraded(); n != 3 || e.Proxy.Upgraded() != 0 || e.Proxy.InFlight() != 0 {
		t.Errorf("got %d ended, %d left and %d requests, want 3, 0, 0", n, e.Proxy.Upgraded(), e.Proxy.InFlight())
	}
	for _, s := range all {
		s.wantEnd(t)
	}
	left.Wait()
	left.Add(1)
	ask(t, e, asks101).want(t, 503, "detail=overload", "Service Unavailable\n")
	left.Wait()
	e.Proxy.Drain()
	ask(t, e, asks101).want(t, 503, "detail=overload", "Service Unavailable\n")
}
