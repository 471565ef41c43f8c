package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// trap makes connections to the origin panic. A step is a read, a write or a close of one,
// of which it is told how many bytes have come before.
type trap struct {
	armed atomic.Pointer[func(step string, seen int) bool]
}

// on panics at the steps for which when says so, until off.
func (t *trap) on(when func(step string, seen int) bool) { t.armed.Store(&when) }

func (t *trap) off() { t.armed.Store(nil) }

func (t *trap) step(step string, seen int) {
	if when := t.armed.Load(); when != nil && (*when)(step, seen) {
		panic("trap: " + step)
	}
}

// at panics at each step of this name once so many bytes have come.
func at(name string, bytes int) func(string, int) bool {
	return func(step string, seen int) bool { return step == name && seen >= bytes }
}

// trapped is a connection with a trap.
type trapped struct {
	net.Conn
	trap *trap
	seen atomic.Int64
}

func (c *trapped) Read(p []byte) (int, error) {
	c.trap.step("read", int(c.seen.Load()))
	n, err := c.Conn.Read(p)
	c.seen.Add(int64(n))
	return n, err
}

func (c *trapped) Write(p []byte) (int, error) {
	c.trap.step("write", int(c.seen.Load()))
	return c.Conn.Write(p)
}

func (c *trapped) Close() error {
	err := c.Conn.Close()
	c.trap.step("close", int(c.seen.Load()))
	return err
}

// many is a body that takes several reads.
var longBody = strings.Repeat("0123456789abcdef", 5000)

// panicOrigin is an origin with each kind of response that panics are tested with.
func panicOrigin(asked func(path string)) func(*edgetest.Conn) {
	return func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			asked(r.URL.Path)
			switch {
			case r.Header.Get("Upgrade") != "":
				c.Say(switched101)
				echoes(c)
				return
			case r.URL.Path == "/chunked":
				c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n")
				c.Say(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(longBody), longBody))
			case r.URL.Path == "/stale":
				c.Say("HTTP/1.1 200 OK\r\nAge: 100\r\nCache-Control: max-age=60, stale-while-revalidate=600\r\nContent-Length: 2\r\n\r\nok")
			case r.URL.Path == "/tagged":
				c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nSurrogate-Key: tag\r\nContent-Length: 2\r\n\r\nok")
			default:
				c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(longBody), longBody))
				return
			}
		}
	}
}

// panicRig is an edge in which the test makes a step panic.
type panicRig struct {
	*testing.T
	e     *edgetest.Edge
	trap  *trap
	mu    sync.Mutex // orders forget before remember: a connection between them does not, for the detector of races
	purge *purge.Table
	peer  atomic.Bool            // to ask for the peer panics
	asked atomic.Pointer[func()] // what the origin does when it is asked
	log   testkit.Buffer
}

// newPanicRig starts an edge with place for one request, and for one connection to the origin:
// what a panic does not give back is missed by the next.
func newPanicRig(t *testing.T, yaml string, o edgetest.Options) *panicRig {
	t.Helper()
	b := &panicRig{T: t, trap: &trap{}}
	if o.Origin == "" {
		app := edgetest.StartOrigin(t, nil, panicOrigin(func(string) {
			if f := b.asked.Load(); f != nil {
				(*f)()
			}
		}))
		o.Origin = app.Address
	}
	o.Log = &b.log
	o.Seams.Connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &trapped{Conn: c, trap: b.trap}, nil
	}
	b.e = start(t, yaml+always+`
limits: {requests_in_flight: 1}
purge: {allow: [127.0.0.0/8]}
origins: {app: {servers: ["http://{origin}"], max_connections: 1}}
`, o)
	b.e.Proxy.PeerOf = func(net.Conn) (netip.Addr, bool) {
		if b.peer.Load() {
			panic("trap: peer")
		}
		return netip.Addr{}, false
	}
	b.purge = b.e.Proxy.Purges
	return b
}

// forget takes the table of purges away, which nearly every step asks.
func (b *panicRig) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.e.Proxy.Purges = nil
}

// remember gives it back. It leaves it alone if it is there: a refresh in the background may be
// reading it.
func (b *panicRig) remember() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.e.Proxy.Purges == nil {
		b.e.Proxy.Purges = b.purge
	}
}

// wantRest mends everything and waits until nothing is under way, and asks then for what
// panicked and for something else.
func (b *panicRig) wantRest(panics float64, path string) {
	b.Helper()
	b.trap.off()
	b.peer.Store(false)
	b.asked.Store(nil)
	// A fetch may outlast its answer, and read the table that remember gives back.
	testkit.ComesTrue(func() bool { return float64(b.e.Proxy.Panics.Count()) >= panics })
	b.remember()
	b.rest()
	if got := b.e.Metric(b.T, "edgeproxy_panics_total"); got != panics {
		b.Errorf("edgeproxy_panics_total: got %v, want %v; log: %s", got, panics, b.log.String())
	}
	b.wantBooked()
	for _, request := range []string{asGet(path), asGet("/other"), "POST /other HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n"} {
		if a := ask(b.T, b.e, request); a.status != 200 || a.err != nil || len(a.body) < 2 {
			b.Errorf("afterwards, %.20q: got %d, %d bytes, %v, want 200", request, a.status, len(a.body), a.err)
		}
		b.rest()
	}
}

// wantBooked wants an end for each fill that was judged storable. A fill may be booked after its request.
func (b *panicRig) wantBooked() {
	b.Helper()
	var judged, ended float64
	if !testkit.ComesTrue(func() bool {
		judged, ended = b.e.Metric(b.T, "edgeproxy_storable_fills_total", "route=default"), 0
		for _, outcome := range []string{"stored", "held_back", "refused"} {
			ended += b.e.Metric(b.T, "edgeproxy_fills_total", "route=default", "outcome="+outcome)
		}
		return judged == ended
	}) {
		b.Errorf("edgeproxy_storable_fills_total: got %v, but %v of edgeproxy_fills_total", judged, ended)
	}
}

// rest waits until nothing is under way.
func (b *panicRig) rest() {
	b.Helper()
	for _, m := range [][]string{
		{"edgeproxy_requests_in_flight"},
		{"edgeproxy_inflight_bytes"},
		{"edgeproxy_origin_connections", "origin=app", "state=active"},
		{"edgeproxy_origin_connections", "origin=app", "state=upgraded"},
	} {
		testkit.Eventually(b.T, m[0]+" is 0", func() bool { return b.e.Metric(b.T, m[0], m[1:]...) == 0 })
	}
}

// want500 asks and wants a 500 that ends the connection.
func (b *panicRig) want500(request string) {
	b.Helper()
	s := dial(b.T, b.e.Address)
	defer s.Close()
	a := s.ask(request)
	_, end := s.r.ReadByte()
	if a.status != 500 || !strings.HasSuffix(a.cache, "detail=panic") || strings.Contains(a.body, "trap") || end == nil || os.IsTimeout(end) {
		b.Errorf("%.20q: got %d %q %q, then %v, want 500 with detail=panic, nothing of the inside, and the end of the connection", request, a.status, a.cache, a.body, end)
	}
}

// wantCut asks and wants an answer that breaks off.
func (b *panicRig) wantCut(request string) {
	b.Helper()
	a := ask(b.T, b.e, request)
	if a.status != 200 || a.err == nil || len(a.body) >= len(longBody) {
		b.Errorf("%.20q: got %d, %d bytes, %v, want 200 and a broken transfer", request, a.status, len(a.body), a.err)
	}
}

// panicListener accepts connections. Once armed, the next one panics when it is asked for its address.
type panicListener struct {
	net.Listener
	armed atomic.Bool
}

func newPanicListener(t *testing.T) *panicListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &panicListener{Listener: l}
}

// before has an edge accept from s. Its admin listener is another.
func (s *panicListener) before() (o edgetest.Options) {
	o.Seams.Listen = func(address string) (net.Listener, error) {
		if strings.HasPrefix(address, "127.") {
			return net.Listen("tcp", "127.0.0.1:0")
		}
		return s, nil
	}
	return o
}

func (s *panicListener) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &panicAddrConn{c, s}, nil
}

type panicAddrConn struct {
	net.Conn
	of *panicListener
}

func (c *panicAddrConn) RemoteAddr() net.Addr {
	if c.of.armed.Swap(false) {
		panic("trap: address")
	}
	return c.Conn.RemoteAddr()
}

func posted(path string) string { return postedBody(path, "body") }

func postedBody(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: edge.test\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// A panic ended the process, or the request was never recorded, kept its place and its
// connection to the origin, and those who waited for it waited on.
func TestPanicAtEachStepEndsOneRequest(t *testing.T) {
	run := func(name, path, yaml string, o edgetest.Options, play func(*panicRig)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPanicRig(t, yaml, o)
			play(b)
			b.wantRest(1, path)
		})
	}
	f := func(name, path string, play func(*panicRig)) {
		t.Helper()
		run(name, path, "", edgetest.Options{}, play)
	}
	trapAt := func(step string, bytes int, want func(*panicRig, string), request string) func(*panicRig) {
		return func(b *panicRig) {
			b.trap.on(at(step, bytes))
			want(b, request)
		}
	}
	peer := func(want func(*panicRig)) func(*panicRig) {
		return func(b *panicRig) {
			b.peer.Store(true)
			want(b)
		}
	}

	f("receive", "/a", peer(func(b *panicRig) { b.want500(asGet("/a")) }))
	f("expect", "/a", peer(func(b *panicRig) {
		b.want500("POST /a HTTP/1.1\r\nHost: edge.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	}))
	f("malformed", "/a", peer(func(b *panicRig) { b.want500("GET /a HTTP/1.1\r\nHost: a\r\nHost : b\r\n\r\n") }))
	f("decide", "/a", func(b *panicRig) {
		b.e.Proxy.Challenge = func([]byte) string { panic("trap") }
		b.want500(asGet("/.well-known/acme-challenge/token"))
	})
	f("look up", "/a", func(b *panicRig) {
		ask(b.T, b.e, asGet("/a"))
		b.forget()
		b.want500(asGet("/a"))
	})
	f("collapse", "/a", func(b *panicRig) {
		b.forget() // asked for the job, when the flight has a leader and no fetch
		b.want500(asGet("/a"))
	})
	f("fetch, sending", "/a", trapAt("write", 0, (*panicRig).want500, asGet("/a")))
	f("fetch, the head", "/a", trapAt("read", 0, (*panicRig).want500, asGet("/a")))
	f("judge", "/tagged", func(b *panicRig) {
		forget := b.forget
		b.asked.Store(&forget)
		b.want500(asGet("/tagged"))
	})
	f("the body of a flight", "/a", trapAt("read", 500, (*panicRig).wantCut, asGet("/a")))
	f("the chunked body of a flight", "/chunked", trapAt("read", 500, (*panicRig).wantCut, asGet("/chunked")))
	f("store", "/a", func(b *panicRig) {
		b.trap.on(func(step string, seen int) bool {
			if step == "read" && seen >= 500 { // the table is asked once more, under the lock of the store
				b.forget()
			}
			return false
		})
		b.wantCut(asGet("/a"))
	})
	f("alone", "/a", trapAt("read", 0, (*panicRig).want500, "GET /a HTTP/1.1\r\nHost: edge.test\r\nRange: bytes=0-9\r\n\r\n"))
	f("HEAD", "/a", trapAt("read", 0, (*panicRig).want500, "HEAD /a HTTP/1.1\r\nHost: edge.test\r\n\r\n"))
	f("pass, sending", "/a", trapAt("write", 0, (*panicRig).want500, posted("/a")))
	f("pass, the head", "/a", trapAt("read", 0, (*panicRig).want500, posted("/a")))
	f("a body that is read", "/a", trapAt("read", 500, (*panicRig).wantCut, posted("/a")))
	f("a body that is written", "/chunked", trapAt("read", 500, (*panicRig).wantCut, posted("/chunked")))
	f("the end of a body", "/a", trapAt("close", 1, (*panicRig).wantCut, posted("/a")))
	const trusted = "cache_status: {send: trusted, trusted: [127.0.0.0/8]}\n"
	far := newPanicListener(t)
	run("deliver", "/chunked", trusted, far.before(), func(b *panicRig) {
		arm := func() { far.armed.Store(true) } // the address is asked for again for Cache-Status
		b.asked.Store(&arm)
		b.want500(asGet("/chunked"))
	})
	farAlone := newPanicListener(t)
	run("deliver, for one client", "/chunked", trusted, farAlone.before(), func(b *panicRig) {
		arm := func() { farAlone.armed.Store(true) }
		b.asked.Store(&arm)
		b.want500("GET /chunked HTTP/1.1\r\nHost: edge.test\r\nIf-Match: *\r\n\r\n")
	})
	f("record", "/a", func(b *panicRig) {
		metrics := b.e.Proxy.Metrics
		b.e.Proxy.Metrics = nil
		if a := ask(b.T, b.e, asGet("/a")); a.status != 200 || a.body != longBody {
			b.Errorf("got %d, %v, want the answer", a.status, a.err)
		}
		testkit.Eventually(b.T, "the panic is counted", func() bool { return b.e.Metric(b.T, "edgeproxy_panics_total") == 1 })
		b.rest()
		b.e.Proxy.Metrics = metrics
	})
	f("HTTP/1.0", "/chunked", func(b *panicRig) {
		b.trap.on(at("read", 500))
		s := dial(b.T, b.e.Address)
		defer s.Close()
		if _, err := io.WriteString(s, "POST /chunked HTTP/1.0\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		if text, err := io.ReadAll(s.r); err == nil {
			b.Errorf("got %d bytes and a clean end, want a reset", len(text))
		}
	})
	f("background", "/stale", func(b *panicRig) {
		ask(b.T, b.e, asGet("/stale"))
		b.trap.on(at("write", 0))
		if a := ask(b.T, b.e, asGet("/stale")); a.status != 200 || !strings.Contains(a.cache, "; hit; ttl=-") {
			b.Errorf("got %d %q, want what is stale", a.status, a.cache)
		}
		testkit.Eventually(b.T, "the panic is counted", func() bool { return b.e.Metric(b.T, "edgeproxy_panics_total") == 1 })
	})
	f("PURGE", "/a", func(b *panicRig) {
		b.forget()
		b.want500("PURGE /a HTTP/1.1\r\nHost: edge.test\r\n\r\n")
	})
	f("upgrade", "/a", trapAt("read", 0, (*panicRig).want500, asks101))
	for _, step := range []string{"read", "write"} {
		f("tunnel, "+step, "/a", func(b *panicRig) {
			s := dial(b.T, b.e.Address)
			defer s.Close()
			if res, err := s.head(asks101); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
				b.Fatalf("got %v, %v, want 101", res, err)
			}
			if step == "read" { // the read that waits already is not the one
				_, _ = io.WriteString(s, "x")
				_, _ = io.ReadFull(s.r, make([]byte, 1))
			}
			b.trap.on(at(step, len(switched101)))
			_, _ = io.WriteString(s, "more")
			if rest, _ := io.ReadAll(s.r); len(rest) > 4 {
				b.Errorf("got %q, want the end", rest)
			}
		})
	}
	f("upload", "/a", func(b *panicRig) {
		writes := 0
		b.trap.on(func(step string, _ int) bool {
			if step == "write" {
				writes++ // one goroutine writes: the connection is of one request
			}
			return step == "write" && writes == 2
		})
		// More than leaves with the head. What was read ahead is the second write.
		b.want500(postedBody("/a", strings.Repeat("b", origin.MaxWhole+1)))
	})
}

// The client has left, and the body is closed.
func TestPanicInTheCloseOfABodyEndsOneRequest(t *testing.T) {
	b := newPanicRig(t, "", edgetest.Options{Origin: newFilmOrigin(t, 64<<20).address})
	b.trap.on(at("close", 1))
	s := dial(t, b.e.Address)
	if res, err := s.head("GET /film HTTP/1.1\r\nHost: edge.test\r\nAuthorization: x\r\n\r\n"); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
	resetNow(s.Conn)
	testkit.Eventually(t, "the panic is counted", func() bool { return b.e.Metric(t, "edgeproxy_panics_total") == 1 })
	b.trap.off()
	for _, m := range [][]string{{"edgeproxy_requests_in_flight"}, {"edgeproxy_origin_connections", "origin=app", "state=active"}} {
		testkit.Eventually(t, m[0]+" is 0", func() bool { return b.e.Metric(t, m[0], m[1:]...) == 0 })
	}
}

// A panic in the fetch of a slice is in a flight.
func TestPanicBetweenTwoSlicesEndsOneRequest(t *testing.T) {
	panicBetweenSlices(t, func(b *panicRig) (mend func()) {
		b.trap.on(at("write", 0))
		return func() {}
	})
}

// A panic where an answer in slices goes on is in the stream.
func TestPanicInAStreamOfSlicesEndsOneRequest(t *testing.T) {
	testkit.Plain(t, "takes the table of purges away while it is in use, which is a race of the test")
	panicBetweenSlices(t, func(b *panicRig) (mend func()) {
		b.forget()
		return b.remember
	})
}

// panicBetweenSlices asks for a film, lets set make something panic once the client's buffers are full, and wants the answer
// to break off, and nothing to be under way afterwards.
func panicBetweenSlices(t *testing.T, set func(*panicRig) (mend func())) {
	t.Helper()
	const film = 64 << 20
	b := newPanicRig(t, "cache: {slice: 256KiB}\n", edgetest.Options{Origin: newFilmOrigin(t, film).address})
	s := dial(t, b.e.Address)
	res, err := s.head(asGet("/film"))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
	written := func() float64 { return b.e.Metric(t, "edgeproxy_origin_bytes_total", "origin=app") }
	last := -1.0
	testkit.Eventually(t, "the client's buffers are full", func() bool {
		now := written()
		full := now == last && now > 1<<20
		last = now
		return full
	})
	mend := set(b)
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil || n >= film {
		t.Errorf("got %d bytes of %d and no error, want a broken transfer", n, film)
	}
	s.Close()
	b.trap.off()
	mend()
	for _, m := range [][]string{{"edgeproxy_requests_in_flight"}, {"edgeproxy_inflight_bytes"}, {"edgeproxy_origin_connections", "origin=app", "state=active"}} {
		testkit.Eventually(t, m[0]+" is 0", func() bool { return b.e.Metric(t, m[0], m[1:]...) == 0 })
	}
	if got := b.e.Metric(t, "edgeproxy_panics_total"); got != 1 {
		t.Errorf("edgeproxy_panics_total: got %v, want 1", got)
	}
	if broken, err := readFilmRange(b.e, 0, 2<<20-1); broken || err != nil {
		t.Errorf("afterwards: got broken %v, %v, want the first slices", broken, err)
	}
}

// The log had the stack of a panic in the goroutine of a request, and nothing of the request.
func TestPanicIsLoggedWithoutItsRequest(t *testing.T) {
	f := func(name, status, route string, play func(*panicRig)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPanicRig(t, "", edgetest.Options{})
			play(b)
			b.wantRest(1, "/a")
			var lines []string
			for line := range strings.Lines(b.log.String()) {
				if strings.Contains(line, "request failed") {
					lines = append(lines, line)
				}
			}
			if len(lines) != 1 {
				t.Fatalf("got the lines %q, want one", lines)
			}
			for _, want := range []string{"host=edge.test", "target=/a", "route=" + route, "client=127.0.0.1", "status=" + status, "reason=panic", "trap"} {
				if !strings.Contains(lines[0], want) {
					t.Errorf("got %q, want %q in it", lines[0], want)
				}
			}
		})
	}
	f("before it was understood", "500", `""`, func(b *panicRig) {
		b.peer.Store(true)
		b.want500(asGet("/a"))
	})
	f("on the way to the origin", "500", "default", func(b *panicRig) {
		b.trap.on(at("write", 0))
		b.want500(posted("/a"))
	})
	f("while the body is sent", "200", "default", func(b *panicRig) {
		b.trap.on(at("read", 500))
		b.wantCut(posted("/a"))
	})
}
