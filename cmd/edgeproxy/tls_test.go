package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// certificateFiles writes a certificate for www.example.com and its key.
func certificateFiles(t *testing.T) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	testkit.WritePair(t, testkit.NewAuthority(t).Good("www.example.com"), certificate, key)
	return certificate, key
}

// serveTLS runs the program with TLS before an origin.
func serveTLS(t *testing.T, origin string, more string) *server {
	t.Helper()
	certificate, key := certificateFiles(t)
	return serveBinary(t, "-c", writeFile(t, "tls.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
admission: {policy: always}
origins: {app: {servers: [%q]}}
%s
`, certificate, key, origin, more)))
}

// speaks returns a client of one version.
func (s *server) speaks(t *testing.T, two bool) *http.Client {
	t.Helper()
	return testkit.SecureClient(t, s.address, two)
}

// app tells what it was asked, and keeps what may be kept.
func app(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/kept/{size}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("size"))
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Etag", `"v1"`)
		_, _ = w.Write(bytes.Repeat([]byte("k"), n))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s for=%s length=%d %s", r.Method, r.Host, r.Header.Get("X-Forwarded-Proto"), r.Header.Get("X-Forwarded-For"), r.ContentLength, body)
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "hinted")
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestBothVersionsGetTheSame asks over TLS, by HTTP/1.1 and HTTP/2 in turn.
func TestBothVersionsGetTheSame(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	for _, two := range []bool{false, true} {
		c := s.speaks(t, two)
		ask := func(method, path, body string, fields ...string) (*http.Response, string) {
			t.Helper()
			r, err := http.NewRequest(method, "https://www.example.com"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body == "chunks" {
				r.ContentLength = -1
			}
			for i := 0; i < len(fields); i += 2 {
				r.Header.Set(fields[i], fields[i+1])
			}
			res, err := c.Do(r)
			if err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Errorf("%s %s: %v", method, path, err)
			}
			if want := map[bool]int{false: 1, true: 2}[two]; res.ProtoMajor != want {
				t.Errorf("%s: got HTTP/%d, want %d", path, res.ProtoMajor, want)
			}
			return res, string(text)
		}
		want := func(status int, cache, text string, res *http.Response, got string) {
			t.Helper()
			if res.StatusCode != status || !strings.Contains(res.Header.Get("Cache-Status"), cache) || got != text {
				t.Errorf("two %v: got %d %q, %d bytes %.60q; want %d %q, %d bytes %.60q",
					two, res.StatusCode, res.Header.Get("Cache-Status"), len(got), got, status, cache, len(text), text)
			}
		}
		for _, size := range []int{0, 1, 1 << 10, 1 << 20} {
			path := fmt.Sprintf("/kept/%d", size)
			body := strings.Repeat("k", size)
			if !two {
				res, got := ask("GET", path, "")
				want(200, "; stored", body, res, got)
			}
			res, got := ask("GET", path, "") // also what the other version has stored
			want(200, "; hit; ", body, res, got)
			res, got = ask("HEAD", path, "")
			want(200, "; hit; ", "", res, got)
			if got := res.Header.Get("Content-Length"); got != strconv.Itoa(size) {
				t.Errorf("HEAD: got Content-Length %q, want %d", got, size)
			}
		}
		res, got := ask("GET", "/kept/1024", "", "If-None-Match", `"v1"`)
		want(304, "; hit; ", "", res, got)
		res, got = ask("GET", "/kept/1024", "", "Range", "bytes=1-3")
		want(206, "; hit; ", "kkk", res, got)
		res, got = ask("POST", "/echo", "body")
		want(200, "detail=method", "POST www.example.com https for=127.0.0.1 length=4 body", res, got)
		res, got = ask("POST", "/echo", "chunks")
		want(200, "detail=method", "POST www.example.com https for=127.0.0.1 length=-1 chunks", res, got)
		res, got = ask("GET", "/kept/1%20a?b=%2F&c", "")
		want(200, "edgeproxy; ", got, res, got)

		hinted := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			hinted = hinted || code == http.StatusEarlyHints && h.Get("Link") != ""
			return nil
		}})
		r, _ := http.NewRequestWithContext(ctx, "GET", "https://www.example.com/hints", http.NoBody)
		if res, err := c.Do(r); err != nil || !hinted {
			t.Errorf("two %v: got hints %v, %v", two, hinted, err)
		} else {
			_ = res.Body.Close()
		}
		r, _ = http.NewRequestWithContext(t.Context(), "GET", "https://www.example.com/broken", http.NoBody)
		if res, err := c.Do(r); err == nil {
			if text, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("two %v: a broken body came as whole: %q", two, text)
			}
			_ = res.Body.Close()
		}
	}
	// What was cut ended the connection of HTTP/1.1, and the stream alone of HTTP/2.
	eventually(t, "one client is connected", func() bool { return s.connections() == "1" })
}

// TestStreamsAreTheirOwn has many streams of one connection under way at once, some of
// which the client gives up.
func TestStreamsAreTheirOwn(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	c := s.speaks(t, true)
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			size := 1 + n*1000
			r, _ := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("https://www.example.com/kept/%d", size), http.NoBody)
			res, err := c.Do(r)
			if err != nil {
				t.Errorf("%d: %v", n, err)
				return
			}
			defer res.Body.Close()
			if n%3 == 0 {
				cancel()
				return
			}
			if got, err := io.Copy(io.Discard, res.Body); err != nil || got != int64(size) {
				t.Errorf("%d: got %d bytes, %v, want %d", n, got, err, size)
			}
		})
	}
	all.Wait()
	eventually(t, "nothing is in flight", func() bool {
		_, metrics := get(t, "http://"+s.admin+"/metrics")
		return strings.Contains(metrics, "\nedgeproxy_requests_in_flight 0\n")
	})
}

// raw opens a connection of HTTP/2 and says what clients say first.
func (s *server) raw(t *testing.T) *tls.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	_, _ = c.Write(frame(4, 0, 0, nil))
	return c
}

// frame is one frame of HTTP/2 (RFC 9113 section 4.1).
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(append(b, byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream)), payload...)
}

// fields is a header block of literals without a table (RFC 7541 section 6.2.2).
func fields(pairs ...string) (b []byte) {
	for i := 0; i < len(pairs); i += 2 {
		b = append(b, 0, byte(len(pairs[i])))
		b = append(append(b, pairs[i]...), byte(len(pairs[i+1])))
		b = append(b, pairs[i+1]...)
	}
	return b
}

// TestFloodsOfHTTP2EndTheirConnection: a client that resets its streams as fast as it
// opens them, and one that never ends its header, lose their connection; others do not
// notice.
func TestFloodsOfHTTP2EndTheirConnection(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "")
	ended := func(name string, c *tls.Conn, send func(n uint32) []byte) {
		t.Helper()
		closed := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, c)
			close(closed)
		}()
		for n := range uint32(200_000) {
			if _, err := c.Write(send(n)); err != nil {
				break
			}
		}
		select {
		case <-closed:
		case <-time.After(patience):
			t.Errorf("%s: the connection is still open", name)
		}
	}
	head := fields(":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/kept/10")
	ended("rapid reset", s.raw(t), func(n uint32) []byte {
		return append(frame(1, 4|1, 2*n+1, head), frame(3, 0, 2*n+1, []byte{0, 0, 0, 8})...)
	})
	ended("continuations", s.raw(t), func(n uint32) []byte {
		if n == 0 {
			return frame(1, 1, 1, head)
		}
		return frame(9, 0, 1, fields("x-a", strings.Repeat("a", 100)))
	})
	res, err := s.speaks(t, true).Get("https://www.example.com/kept/10")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("another client: got %v, %v", res, err)
	}
	_ = res.Body.Close()
	eventually(t, "nothing is in flight", func() bool {
		_, metrics := get(t, "http://"+s.admin+"/metrics")
		return strings.Contains(metrics, "\nedgeproxy_requests_in_flight 0\n")
	})
}

// TestWhatIsNoRequestOnTheWireIsRefused: HTTP/2 can carry in a field what would be
// several lines, or several parts of one, in HTTP/1.1.
func TestWhatIsNoRequestOnTheWireIsRefused(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, app(t), "access_log: {path: \"-\"}")
	for _, pairs := range [][]string{
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/kept/1 HTTP/1.1\r\nX-A: b"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/kept/1 HTTP/1.1"},
		{":method", "GET /kept/1", ":scheme", "https", ":authority", "www.example.com", ":path", "/"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com\r\nX-A: b", ":path", "/"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "x-a", "b\r\nx-b: c"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "x a", "b"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "transfer-encoding", "chunked"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "connection", "x-a"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "host", "other.example"},
		{":method", "GET", ":scheme", "https", ":authority", "www.example.com", ":path", "https://other.example/kept/1"},
		{":method", "GET", ":scheme", "https", ":authority", "u:p@www.example.com", ":path", "/kept/1"},
		{":method", "POST", ":scheme", "https", ":authority", "www.example.com", ":path", "/", "content-length", "5"},
	} {
		c := s.raw(t)
		_, _ = c.Write(frame(1, 4|1, 1, fields(pairs...)))
		if status := answered(c); status == 200 {
			t.Errorf("%q: got 200, want it refused", pairs)
		}
		_ = c.Close()
	}
	if _, metrics := get(t, "http://"+s.admin+"/metrics"); strings.Contains(metrics, `edgeproxy_origin_requests_total{`) {
		for line := range strings.SplitSeq(metrics, "\n") {
			if strings.HasPrefix(line, "edgeproxy_origin_requests_total{") && !strings.HasSuffix(line, " 0") {
				t.Errorf("the origin was asked: %s", line)
			}
		}
	}
}

// answered returns the status of the answer to stream 1 where it is 200 or 400, and 0 for a
// stream or a connection that ends.
func answered(c *tls.Conn) int {
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return 0
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(c, payload); err != nil {
			return 0
		}
		switch head[3] {
		case 1: // HEADERS: the first is :status, from the table
			return map[byte]int{0x88: 200, 0x8c: 400}[payload[0]]
		case 3, 7: // RST_STREAM, GOAWAY
			return 0
		}
	}
}

// TestDrainLetsStreamsFinish: a stream that is under way is answered whole, the client
// is told not to come back.
func TestDrainLetsStreamsFinish(t *testing.T) {
	t.Parallel()
	origin, begun, goOn := testkit.SlowOrigin(t)
	s := serveTLS(t, origin, "")
	c := s.speaks(t, true)
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		res, err := c.Get("https://www.example.com/slow")
		if err != nil {
			got <- answer{err: err}
			return
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		got <- answer{string(text), err}
	}()
	<-begun
	s.signal(syscall.SIGTERM)
	eventually(t, "/readyz says 503", func() bool { return s.readyz() == 503 })
	goOn <- struct{}{}
	if a := <-got; a.err != nil || a.text != "helloworld" {
		t.Errorf("got %q, %v, want helloworld", a.text, a.err)
	}
	s.wantExit(exitDone)
}

func TestFilesOfCertificatesAreChecked(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t)
	other, _ := certificateFiles(t)
	file := writeFile(t, "tls.yaml", fmt.Sprintf(`origins: {app: {servers: ["http://127.0.0.1:9"]}}
listen: [{address: "127.0.0.1:0", tls: true}]
tls:
  certificates:
    - {certificate: %q, key: %q}
    - {certificate: %q, key: /nowhere/k.pem}
    - {certificate: %q, key: %q}
`, certificate, key, certificate, other, key))
	done := runBinary(t, "check", "-c", file)
	for _, want := range []string{
		"tls.yaml:6:", "tls.certificates[1].key: /nowhere/k.pem: must be a file with the key:",
		"tls.yaml:7:", "tls.certificates[2].certificate: ", "must be a certificate and its key, in PEM:",
	} {
		if done.code != exitUsage || !strings.Contains(done.stderr, want) {
			t.Errorf("got %d %s, want %d and %q", done.code, done.stderr, exitUsage, want)
		}
	}
	if strings.Contains(done.stderr, "certificates[0]") {
		t.Errorf("got %s, want the first to be right", done.stderr)
	}
}

// TestTheClientBehindPROXYAndTLSIsTheOneThatWasTold asks through a load balancer that
// passes TLS on as it is.
func TestTheClientBehindPROXYAndTLSIsTheOneThatWasTold(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t)
	s := serveBinary(t, "-c", writeFile(t, "proxy.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true, proxy_protocol: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
origins: {app: {servers: [%q]}}
`, certificate, key, app(t))))
	for _, two := range []bool{false, true} {
		c := s.speaks(t, two)
		c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, s.address)
			if err == nil {
				_, err = io.WriteString(conn, "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n")
			}
			return conn, err
		}
		res, err := c.Post("https://www.example.com/echo", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if want := "POST www.example.com https for=192.0.2.7 length=1 x"; err != nil || string(text) != want {
			t.Errorf("two %v: got %q, %v, want %q", two, text, err, want)
		}
		c.CloseIdleConnections()
	}
	eventually(t, "nobody is connected", func() bool { return s.connections() == "0" })
}
