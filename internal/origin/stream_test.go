package origin

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/test/testkit"
)

func TestAResponseByHTTP2(t *testing.T) {
	o := overH2(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprintf(w, "%s %s %s %s %v %q %v", r.Proto, r.Method, r.RequestURI, r.Host, r.TLS != nil, body, err)
	})
	f := func(r *Request, want string) {
		t.Helper()
		res, body, err := fetch(o, r)
		if err != nil || body != want {
			t.Fatalf("got %q, %v; want %q", body, err, want)
		}
		if got := res.Header.Values("Set-Cookie"); len(got) != 2 || got[0] != "a=1" || got[1] != "b=2" || !res.Body.Framed() {
			t.Errorf("got cookies %q, framed %v", got, res.Body.Framed())
		}
	}
	f(get("/a?b=%2f&c"), `HTTP/2.0 GET /a?b=%2f&c origin.test true "" <nil>`)
	f(get("//double/slash"), `HTTP/2.0 GET //double/slash origin.test true "" <nil>`)
	f(&Request{Method: "OPTIONS", Target: "*", Host: "h:81"}, `HTTP/2.0 OPTIONS * h:81 true "" <nil>`)
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("abc"), ContentLength: 3}, `HTTP/2.0 POST / h true "abc" <nil>`)
	f(&Request{Method: "PUT", Target: "/", Host: "h", Body: strings.NewReader("abcd"), ContentLength: -1}, `HTTP/2.0 PUT / h true "abcd" <nil>`)
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader(""), ContentLength: 0}, `HTTP/2.0 POST / h true "" <nil>`)
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("whole"), Whole: []byte("whole"), ContentLength: 5}, `HTTP/2.0 POST / h true "whole" <nil>`)
	f(&Request{Method: "DELETE", Target: "/", Host: "h", Header: field.List{{Name: "X-A", Value: "1"}}}, `HTTP/2.0 DELETE / h true "" <nil>`)
	if n := o.pool.servers[0].h2.count(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
	if n := openCount(o); n != 0 {
		t.Errorf("got %d slots in use, want 0", n)
	}
}

// A server that does not offer HTTP/2, or does not speak it, is told by the error.
func TestAServerWithoutHTTP2(t *testing.T) {
	a := testkit.NewAuthority(t)
	f := func(name string, protocols []string, want string) {
		t.Helper()
		var conns atomic.Int32
		o := start(t, Options{TLS: &tls.Config{RootCAs: a.Pool()}, Settings: Settings{HTTP2: true}}, func(n int, p *peer) {
			conns.Add(1)
			overTLS(&tls.Config{Certificates: []tls.Certificate{a.Good("127.0.0.1")}, NextProtos: protocols}, each(okWire))(n, p)
		})
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Connect)
		if err == nil || !strings.Contains(err.Error(), want) || openCount(o) != 0 || h2Count(o) != 0 {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
	f("no protocols", nil, "the server does not offer HTTP/2 (ALPN h2)")
	f("HTTP/1.1 alone", []string{"http/1.1"}, "no application protocol")

	o := start(t, Options{Settings: Settings{HTTP2: true, FirstByteTimeout: testkit.Patience}}, func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		p.untilClosed()
	})
	_, _, err := fetch(o, get("/"))
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Cut && e.Kind != Malformed && !errors.Is(err, errEndedAtOnce) {
		t.Errorf("got %v, want an answer that is none", err)
	}
}

func TestTLSOfHTTP2IsVerified(t *testing.T) {
	o := overH2(t, Options{}, func(http.ResponseWriter, *http.Request) { t.Error("a request came") })
	o.pool.servers[0].TLS.ServerName = "other.test"
	_, _, err := fetch(o, get("/"))
	wantKind(t, err, Connect)
	if err == nil || !strings.Contains(err.Error(), "TLS handshake with other.test") {
		t.Errorf("got %v, want the handshake", err)
	}
}

func TestHTTP2OnASocketWithoutTLS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serving(t, h2c(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Proto, " ", r.Host) })), l)
	o := open(t, Options{Address: socketPrefix + path, Settings: Settings{HTTP2: true}})
	wantBody(t, o, get("/"), "HTTP/2.0 origin.test")
	o, err = New(Options{Name: "app", Servers: []Server{{Address: socketPrefix + path, Host: "localhost"}}, Settings: Settings{HTTP2: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	wantBody(t, o, get("/"), "HTTP/2.0 localhost")
}

// What HTTP/2 has no place for never leaves, and is nobody's failure.
func TestRequestsThatHTTP2DoesNotHave(t *testing.T) {
	o := overH2(t, Options{}, func(http.ResponseWriter, *http.Request) { t.Error("a request came") })
	f := func(r *Request, want Kind) {
		t.Helper()
		_, _, err := fetch(o, r)
		wantKind(t, err, want)
		if n := openCount(o); n != 0 {
			t.Errorf("got %d slots in use, want 0", n)
		}
	}
	f(&Request{Method: "GET", Target: "/", Host: "h", Upgrade: "websocket"}, Unsupported)
	f(get("http://origin.test/"), BadRequest)
	f(&Request{Method: "GET", Target: "/", Host: "h", Header: field.List{{Name: "Connection", Value: "close"}}}, BadRequest)
	f(&Request{Method: "GET", Target: "/", Host: "h", Header: field.List{{Name: "X-A", Value: "a\r\nb: c"}}}, BadRequest)
	f(&Request{Method: "GET", Target: "/", Host: "h<>"}, BadRequest)
	if o.Start(t.Context(), get("/")) != nil {
		t.Error("a Call has begun")
	}
	big := overH2(t, Options{}, func(http.ResponseWriter, *http.Request) {})
	wantBody(t, big, get("/"), "")
	_, _, err := fetch(big, &Request{Method: "GET", Target: "/", Host: "h", Header: field.List{{Name: "X-A", Value: strings.Repeat("x", 2<<20)}}})
	wantKind(t, err, BadRequest) // more than the server says that it takes
}

func TestFieldsOfARequestByHTTP2(t *testing.T) {
	seen := make(chan http.Header, 1)
	o := overH2(t, Options{}, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header })
	r := get("/")
	r.TakesTrailers = true
	r.Header = field.List{{Name: "X-A", Value: "1"}, {Name: "Cookie", Value: "a=b; c=d"}, {Name: "x-a", Value: "2"}, {Name: "Keep-Alive", Value: "timeout=1"}, {Name: "Proxy-Connection", Value: "close"}}
	wantBody(t, o, r, "")
	if got, want := fmt.Sprint(<-seen), "map[Cookie:[a=b; c=d] Te:[trailers] X-A:[1 2]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantBody(t, o, post(strings.NewReader("abc"), 3), "")
	if got, want := fmt.Sprint(<-seen), "map[Content-Length:[3]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMetricsOfConnectionsByHTTP2(t *testing.T) {
	registry := prometheus.NewRegistry()
	arrived, leave := make(chan struct{}), make(chan struct{})
	o := overH2(t, Options{Metrics: NewMetrics(registry)}, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-leave
		_, _ = io.WriteString(w, "ok")
	})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { wantBody(t, o, get("/"), "ok") })
	}
	for range 3 {
		<-arrived
	}
	wants := func(active, http2 float64) {
		t.Helper()
		const name = "edgeproxy_origin_connections"
		if a, h, i := sample(t, registry, name, "app", "active"), sample(t, registry, name, "app", "http2"), sample(t, registry, name, "app", "idle"); a != active || h != http2 || i != 0 {
			t.Errorf("got %v active, %v of HTTP/2 and %v idle, want %v, %v and 0", a, h, i, active, http2)
		}
	}
	wants(3, 1)
	close(leave)
	wg.Wait()
	wants(0, 1)
	o.Close()
	eventually(t, "the connection is closed", func() bool { return sample(t, registry, "edgeproxy_origin_connections", "app", "http2") == 0 })
	if n := sample(t, registry, "edgeproxy_origin_requests_total", "app", "ok"); n != 3 {
		t.Errorf("got %v requests, want 3", n)
	}
}

// nghttpd is another implementation.
func TestAnswersOfNghttpd(t *testing.T) {
	program, address, folder := testkit.Program(t, "nghttpd"), testkit.QuietAddress(t), t.TempDir()
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	if err := os.WriteFile(filepath.Join(folder, "large"), large, 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--no-tls", "-a", host, "-d", folder, "--trailer", "x-sum: 1", "--echo-upload", port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "nghttpd listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	const long = 10 * testkit.Patience // 40 MB go both ways at once
	o := open(t, Options{Address: address, Settings: Settings{HTTP2: true, ConnectTimeout: long, FirstByteTimeout: long, IdleTimeout: long}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			res, body, err := fetch(o, get("/large"))
			if err != nil || body != string(large) || fmt.Sprint(res.Body.Trailers()) != "[{X-Sum 1}]" {
				t.Errorf("got %d bytes, %v", len(body), err)
			}
		})
		wg.Go(func() {
			_, body, err := fetch(o, post(bytes.NewReader(large[:1<<20]), 1<<20))
			if err != nil || body != string(large[:1<<20]) {
				t.Errorf("echo: got %d bytes, %v", len(body), err)
			}
		})
	}
	wg.Wait()
	if n := h2Count(o); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
	res, _, err := fetch(o, get("/none"))
	if err != nil || res.Status != http.StatusNotFound {
		t.Errorf("got %v, %v, want 404", res, err)
	}
}

func TestATraceOfARequestByHTTP2(t *testing.T) {
	o := overH2(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	for n := range 2 {
		told := make(chan *Trace, 1)
		r := get("/a")
		r.Trace = &Trace{Owner: ownerOf(told)}
		wantBody(t, o, r, "ok")
		tr := <-told
		if tr.Status != 200 || tr.Server != o.options.Address || !tr.Secure || tr.Tries != 1 || tr.Err != nil || tr.Target != "/a" || tr.Host != "origin.test" {
			t.Errorf("got %+v", tr)
		}
		if tr.Sent.IsZero() || tr.FirstByte.Before(tr.Sent) || tr.End.Before(tr.FirstByte) || tr.Connected.IsZero() != (n > 0) {
			t.Errorf("request %d: got times %+v", n, tr)
		}
	}
}

// ownerOf tells of the end by a channel.
type ownerOf chan *Trace

func (o ownerOf) Ended(t *Trace) { o <- t }
