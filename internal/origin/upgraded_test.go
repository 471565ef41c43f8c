package origin

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

const switchedWire = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

// upgradeTo is a request for one of protocols.
func upgradeTo(protocols string) *Request {
	r := get("/ws")
	r.Upgrade = protocols
	return r
}

// upgraded makes an upgrade to a websocket, which is closed at the end of the test.
func upgraded(t *testing.T, o *Origin) *Upgraded {
	t.Helper()
	res, err := o.RoundTrip(t.Context(), upgradeTo("websocket"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != 101 || res.Upgraded == nil {
		t.Fatalf("got status %d and connection %v, want 101 and one", res.Status, res.Upgraded)
	}
	if b, err := io.ReadAll(res.Body); err != nil || len(b) > 0 || res.Body.Close() != nil {
		t.Errorf("got body %q, %v, want an empty one", b, err)
	}
	t.Cleanup(func() { _ = res.Upgraded.Close() })
	return res.Upgraded
}

// wantNext reads as many bytes as want has.
func wantNext(t *testing.T, u *Upgraded, want string) {
	t.Helper()
	var got []byte
	for len(got) < len(want) {
		b, err := u.Next()
		got = append(got, b...)
		if err != nil {
			t.Fatalf("got %q and %v, want %q", got, err, want)
		}
	}
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// echoes says back what comes, and ends when the other side does.
func echoes(p *peer) {
	_, _ = io.Copy(p, p.br)
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// TestUpgraded: what came with the 101 is there, bytes go both ways, and the end of
// each direction is the end of that direction alone.
func TestUpgraded(t *testing.T) {
	heads := make(chan string, 1)
	play := func(_ int, p *peer) {
		heads <- p.request()
		p.say("HTTP/1.1 103 Early Hints\r\n\r\n" + switchedWire + "early")
		echoes(p)
	}
	f := func(name string, o *Origin) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			u := upgraded(t, o)
			if h := <-heads; !strings.HasSuffix(h, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n") {
				t.Errorf("the origin got %q", h)
			}
			wantNext(t, u, "early")
			for _, s := range []string{"a", strings.Repeat("b", 3*readBufferBytes)} {
				go func() { _, _ = u.Write([]byte(s)) }()
				wantNext(t, u, s)
			}
			if err := u.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if b, err := u.Next(); len(b) > 0 || !errors.Is(err, io.EOF) {
				t.Errorf("got %q, %v, want the end", b, err)
			}
		})
	}
	f("plain", start(t, Options{}, play))
	f("TLS", startTLS(t, play))
}

// TestUpgradedTLSMustBeClosed: an end of TCP alone is no end of what TLS carries.
func TestUpgradedTLSMustBeClosed(t *testing.T) {
	u := upgraded(t, startTLS(t, func(_ int, p *peer) {
		p.request()
		p.say(switchedWire)
		c, _ := p.Conn.(*tls.Conn)
		_ = c.NetConn().Close()
	}))
	if b, err := u.Next(); len(b) > 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, %v, want an unexpected end", b, err)
	}
}

// TestSwitchHasToBeAskedFor: any other 101 is no answer, and ends its connection.
func TestSwitchHasToBeAskedFor(t *testing.T) {
	f := func(asked, fields string, want bool) {
		t.Helper()
		line := "HTTP/1.1 101 Switching Protocols\r\n"
		if rest, ok := strings.CutPrefix(fields, "HTTP/1.0 "); ok {
			line, fields = "HTTP/1.0 101 Switching Protocols\r\n", rest
		}
		closed := make(chan struct{}, 1)
		o := start(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say(line + fields + "\r\n" + okWire)
			p.untilClosed()
			closed <- struct{}{}
		})
		res, err := o.RoundTrip(t.Context(), upgradeTo(asked))
		if want {
			if err != nil {
				t.Errorf("%q answered by %q: %v", asked, fields, err)
				return
			}
			_ = res.Upgraded.Close()
			return
		}
		wantKind(t, err, Malformed)
		<-closed
		if n := openCount(o); n != 0 {
			t.Errorf("%q answered by %q: %d slots are in use, want none", asked, fields, n)
		}
	}
	const connection = "Connection: Upgrade\r\n"
	f("websocket", connection+"Upgrade: websocket\r\n", true)
	f("websocket", "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\nContent-Length: 0\r\n", true)
	f("IRC/6.9, RTA/x11", connection+"Upgrade: RTA/x11\r\n", true)
	f("a, b", connection+"Upgrade: b\r\nUpgrade: a\r\n", true)

	f("", connection+"Upgrade: websocket\r\n", false)
	f("", "", false)
	f("websocket", "", false)
	f("websocket", connection, false)
	f("websocket", "Upgrade: websocket\r\n", false)
	f("websocket", "Connection: close\r\nUpgrade: websocket\r\n", false)
	f("websocket", connection+"Upgrade:\r\n", false)
	f("websocket", connection+"Upgrade: websocket,\r\n", false)
	f("websocket", connection+"Upgrade: h2c\r\n", false)
	f("websocket", connection+"Upgrade: websocket, h2c\r\n", false)
	f("websocket", connection+"Upgrade: websocket\r\nUpgrade: h2c\r\n", false)
	f("IRC/6.9", connection+"Upgrade: IRC\r\n", false)
	f("websocket", connection+"Upgrade: websocket\r\nContent-Length: 5\r\n", false)
	f("websocket", connection+"Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n", false)
	f("websocket", "HTTP/1.0 "+connection+"Upgrade: websocket\r\n", false)
}

// TestUpgradedIsInNoSlot: a pool of one connection serves on while one that came from
// it lives, and the gauges tell of both.
func TestUpgradedIsInNoSlot(t *testing.T) {
	registry := prometheus.NewRegistry()
	o := start(t, Options{Metrics: NewMetrics(registry), Settings: Settings{MaxConnections: 1}}, func(_ int, p *peer) {
		for r := p.request(); r != ""; r = p.request() {
			if strings.Contains(r, "\r\nUpgrade: ") {
				p.say(switchedWire)
				echoes(p)
				return
			}
			p.say(okWire)
		}
	})
	first, second := upgraded(t, o), upgraded(t, o)
	wantBody(t, o, get("/"), "ok")
	want := func(n int) {
		t.Helper()
		if got := o.Stats(time.Now()).Servers[0].Upgraded; got != n {
			t.Errorf("got %d upgraded connections in Stats, want %d", got, n)
		}
		if got := sample(t, registry, "edgeproxy_origin_connections", "app", "upgraded"); got != float64(n) {
			t.Errorf("got %v upgraded connections in the metric, want %d", got, n)
		}
	}
	want(2)
	for range 2 {
		_ = first.Close()
		want(1)
	}
	o.Close() // which leaves upgraded ones to their owners
	_, _ = second.Write([]byte("on"))
	wantNext(t, second, "on")
	_ = second.Close()
	want(0)
	if got := sample(t, registry, "edgeproxy_origin_requests_total", "app", "ok"); got != 3 {
		t.Errorf("got %v requests that were ok, want 3", got)
	}
	if got := sample(t, registry, "edgeproxy_origin_bytes_total", "app"); got != 4 {
		t.Errorf("got %v bytes, want those of ok and on", got)
	}
}

// TestUpgradedWriteHasALimit: an origin that takes nothing ends a Write, and silence
// alone ends nothing.
func TestUpgradedWriteHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{Settings: Settings{IdleTimeout: time.Second}}, func(_ int, p *peer) {
			p.request()
			p.say(switchedWire)
			time.Sleep(time.Hour)
			p.say("late")
			time.Sleep(time.Hour)
		})
		u := upgraded(t, o)
		wantNext(t, u, "late")
		begun := time.Now()
		_, err := u.Write([]byte("x"))
		if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v, want a timeout after 1s", err, time.Since(begun))
		}
		if err := u.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("half of a pipe: got %v, want that there is no such thing", err)
		}
	})
}

// TestUpgradeThatCannotBeAskedFor is refused before anything is sent.
func TestUpgradeThatCannotBeAskedFor(t *testing.T) {
	o := start(t, Options{}, each(okWire))
	withBody := upgradeTo("websocket")
	withBody.Body, withBody.ContentLength = bufio.NewReader(strings.NewReader("x")), 1
	withField := upgradeTo("websocket")
	withField.Header.Add("Upgrade", "websocket")
	for _, r := range []*Request{withBody, withField, upgradeTo("a b"), upgradeTo("a\r\nX: y"), upgradeTo(",")} {
		_, err := o.RoundTrip(t.Context(), r)
		wantKind(t, err, BadRequest)
	}
}

// TestUpgradedIsLoad: the server with the fewest connections is not the one with those
// that were upgraded.
func TestUpgradedIsLoad(t *testing.T) {
	asked := make(chan int, 3)
	server := func(i int) Server {
		return Server{Address: loopback(t, func(_ int, p *peer) {
			for r := p.request(); r != ""; r = p.request() {
				asked <- i
				if strings.Contains(r, "\r\nUpgrade: ") {
					p.say(switchedWire)
					p.untilClosed()
					return
				}
				p.say(okWire)
			}
		})}
	}
	o, err := New(Options{Name: "app", Servers: []Server{server(0), server(1)}, Settings: Settings{Balance: balance.LeastConnections}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	upgraded(t, o)
	busy := <-asked
	for range 2 {
		wantBody(t, o, get("/"), "ok")
		if got := <-asked; got == busy {
			t.Errorf("server %d was asked, which has an upgraded connection", got)
		}
	}
}
