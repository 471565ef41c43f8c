package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/test/edgetest"
)

// TestSlowUploadsHoldNoOriginConnection: clients that sent a byte of their uploads now and
// then had all connections to the origin, and every other request got 503.
func TestSlowUploadsHoldNoOriginConnection(t *testing.T) {
	const clients, others = 12, 8
	f := func(name, head, piece string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &recordingOrigin{}
			e, _ := startBefore(t, `
limits: {receive_rate: {bytes: 1KiB, over: 500ms}}
origins: {app: {servers: ["http://{origin}"], max_connections: 4}}
`, w.script)
			letGo := func() float64 { return e.Metric(t, "edgeproxy_limit_rejections_total", "limit=receive_rate") }
			slow := make([]*socket, clients)
			for i := range slow {
				slow[i] = dial(t, e.Address)
				if _, err := io.WriteString(slow[i], head+piece); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "all are under way, or were", func() bool {
				return float64(e.Proxy.Status().RequestsInFlight)+letGo() >= clients
			})
			for i := range others {
				if a := ask(t, e, asGet(fmt.Sprint("/", i))); a.status != 200 {
					t.Errorf("another client: got %d %v", a.status, a.err)
				}
			}
			for _, s := range slow {
				if a := s.read(); a.status != 408 || !strings.Contains(a.cache, "detail=client-timeout") {
					t.Errorf("a slow client: got %d %q %v, want 408", a.status, a.cache, a.err)
				}
				if _, err := s.r.ReadByte(); err != io.EOF {
					t.Errorf("behind the 408: %v, want the end of the connection", err)
				}
			}
			if got, _ := w.take(); len(got) != others {
				t.Errorf("the origin got %d requests, want those of the others alone: %d", len(got), others)
			}
			if got := letGo(); got != clients {
				t.Errorf("counted: got %v, want %d", got, clients)
			}
		})
	}
	f("length", "POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n", "x")
	f("chunks", "POST /u HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")
	f("within a chunk size", "POST /u HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "00")
	f("more than one buffer", "POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n", strings.Repeat("x", 5000))
}

// TestALongUploadKeepsItsPace: beyond what is read ahead the client is held to the same.
func TestALongUploadKeepsItsPace(t *testing.T) {
	connected := make(chan struct{})
	e, _ := startBefore(t, "limits: {request_buffer: 100B, receive_rate: {bytes: 1KiB, over: 300ms}}", func(c *edgetest.Conn) {
		close(connected)
		(&recordingOrigin{}).script(c)
	})
	s := dial(t, e.Address)
	if _, err := io.WriteString(s, "POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n"+strings.Repeat("x", 200)); err != nil {
		t.Fatal(err)
	}
	wait(connected)
	if a := s.read(); a.status != 408 {
		t.Errorf("got %d %v, want 408", a.status, a.err)
	}
}

// TestTheOriginsTimeIsNotTheClients: an origin that takes long to read or to answer does not
// make a client slow. In virtual time, the client itself takes none.
func TestTheOriginsTimeIsNotTheClients(t *testing.T) {
	const period = time.Second // in which a client would have to send far more than it has
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("x", 300<<10)
		front, back := newPipes(), newPipes()
		app := edgetest.StartOrigin(t, back, func(c *edgetest.Conn) {
			time.Sleep(2 * period)
			for r := c.Next(); r != nil; r = c.Next() {
				time.Sleep(2 * period)
				c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(r.Content), r.Content))
			}
		})
		start(t, fmt.Sprintf("limits: {receive_rate: {bytes: 1GiB, over: %v}}", period), edgetest.Options{Origin: app.Address, Seams: edge.Seams{
			Listen: func(address string) (net.Listener, error) {
				if strings.HasPrefix(address, "127.") { // the listener of admin
					return newPipes(), nil
				}
				return front, nil
			},
			Connect: back.dial,
		}})
		client, err := front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		begun := time.Now()
		go func() {
			_, _ = io.WriteString(client, fmt.Sprintf("POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		}()
		s := &socket{Conn: client, r: bufio.NewReader(client)}
		if a := s.read(); a.status != 200 || a.body != body {
			t.Errorf("got %d, %d bytes, %v; want 200 and all %d", a.status, len(a.body), a.err, len(body))
		}
		if took := time.Since(begun); took < 4*period {
			t.Errorf("took %v, want the time of the origin", took)
		}
	})
}

// TestUploadsOfEverySizeAreWhole: around the sizes of the buffers, by both framings.
func TestUploadsOfEverySizeAreWhole(t *testing.T) {
	f := func(buffer string) {
		w := &recordingOrigin{}
		e, _ := startBefore(t, "limits: {request_buffer: "+buffer+"}", w.script)
		for _, size := range []int{0, 1, 99, 100, 101, 4095, 4096, 4097, 65535, 65536, 65537, 200000} {
			body := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			for _, request := range []string{
				fmt.Sprintf("POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, body),
				fmt.Sprintf("POST /u HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%s0\r\n\r\n", chunked(body)),
			} {
				if a := ask(t, e, request); a.status != 200 {
					t.Fatalf("buffer of %s, body of %d: got %d %v", buffer, size, a.status, a.err)
				}
				if got, _ := w.take(); len(got) != 1 || got[0] != "POST h /u "+body {
					t.Errorf("buffer of %s, body of %d: the origin got %.80q", buffer, size, got)
				}
			}
		}
	}
	f("0B")
	f("1B")
	f("100B")
	f("5000B")
	f("64KiB")
}

// chunked is body in chunks of up to 5000 bytes, without the last one.
func chunked(body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(len(body), 5000)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String()
}

// TestStalledUploadsTakeBoundedMemory: up to 64 KiB are read ahead of each upload. Together they
// take at most a quarter of limits.inflight_bytes, of which a client has its share while that is scarce.
func TestStalledUploadsTakeBoundedMemory(t *testing.T) {
	const buffer, held, part = 64 << 10, 8, 5000
	head := fmt.Sprintf("POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", buffer)
	f := func(name string, share float64, fit, status int, detail, limit string) {
		t.Run(name, func(t *testing.T) {
			e, _ := startBefore(t, fmt.Sprintf("limits: {request_buffer: %dB, inflight_bytes: %dB, inflight_share: %v}", buffer, 4*held*buffer, share), (&recordingOrigin{}).script)
			taken := func(n int) func() bool {
				return func() bool { return e.Metric(t, "edgeproxy_inflight_bytes") == float64(n*buffer) }
			}
			var slow []*socket
			for n := range fit {
				s := dial(t, e.Address)
				if _, err := io.WriteString(s, head+strings.Repeat("x", part)); err != nil {
					t.Fatal(err)
				}
				slow = append(slow, s)
				eventually(t, "the upload has its buffer", taken(n+1))
			}
			a := dial(t, e.Address).ask(head + strings.Repeat("x", part))
			if a.status != status || !strings.HasSuffix(a.cache, "; detail="+detail) || a.header.Get("Retry-After") == "" {
				t.Errorf("beyond the bound: got %d %q, Retry-After %q, %v; want %d, %s", a.status, a.cache, a.header.Get("Retry-After"), a.err, status, detail)
			}
			if a := ask(t, e, "POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"); a.status != 200 {
				t.Errorf("a small upload meanwhile: got %d %v, want 200", a.status, a.err)
			}
			if got := e.Metric(t, "edgeproxy_limit_rejections_total", "limit="+limit); got != 1 {
				t.Errorf("counted: got %v, want 1", got)
			}
			for _, s := range slow {
				if a := s.ask(strings.Repeat("x", buffer-part)); a.status != 200 {
					t.Errorf("an upload that goes on: got %d %v, want 200", a.status, a.err)
				}
			}
			eventually(t, "all of it is given back", taken(0))
		})
	}

	f("all of it", 1, held, 503, "overload", "inflight_bytes")
	f("a client's share", 0.125, held-2, 429, "client-share", "inflight_share")
}
