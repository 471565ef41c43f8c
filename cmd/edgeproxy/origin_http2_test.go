package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// http2App answers on l by what it was asked for, by HTTP/2 alone; over TLS with files of its certificate.
func http2App(t *testing.T, l net.Listener, secure bool) (url, certificate string) {
	t.Helper()
	large := strings.Repeat("0123456789abcdef", 1<<16)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		switch r.URL.Path {
		case "/large":
			_, _ = io.WriteString(w, large)
			return
		case "/cut":
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Trailer", "X-Sum")
		_, _ = fmt.Fprintf(w, "%s %s %s %s %s %d", r.Proto, r.Method, r.URL, r.Host, r.Header.Get("X-Forwarded-For"), len(body))
		w.Header().Set("X-Sum", "1")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.Protocols = new(http.Protocols)
	_ = s.Listener.Close()
	s.Listener = l
	if secure {
		s.TLS = &tls.Config{NextProtos: []string{"h2"}}
		s.Config.Protocols.SetHTTP2(true)
		s.StartTLS()
		certificate = writeFile(t, "origin.pem", "")
		testkit.WritePair(t, s.TLS.Certificates[0], certificate, writeFile(t, "origin.key", ""))
	} else {
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.URL, certificate
}

func TestAnOriginByHTTP2(t *testing.T) {
	t.Parallel()
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	secure, certificate := http2App(t, listen("tcp", "127.0.0.1:0"), true)
	plain, _ := http2App(t, listen("tcp", "127.0.0.1:0"), false)
	path := filepath.Join(t.TempDir(), "app.sock")
	http2App(t, listen("unix", path), false)
	f := func(name, origin string) {
		t.Run(name, func(t *testing.T) {
			s := serveBinary(t, "-c", writeFile(t, "edge.yaml", "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\nadmission: {policy: always}\n"+
				"origins: {app: {"+origin+", protocol: h2, health: {path: /health, interval: 1s}}}\n"))
			usesHTTP2(s)
		})
	}
	f("https", fmt.Sprintf("servers: [%q], tls: {ca: %q}", secure, certificate))
	f("http", fmt.Sprintf("servers: [%q]", plain))
	f("a socket", fmt.Sprintf("servers: [%q]", "unix:"+path))
}

// usesHTTP2 asks s, whose origin is that of http2App, for what it has.
func usesHTTP2(s *server) {
	t := s.t
	t.Helper()
	at := "http://" + s.address
	for _, status := range []string{"fwd=uri-miss", "hit"} {
		res, body := get(t, at+"/a?b")
		if want := "HTTP/2.0 GET /a?b " + s.address + " 127.0.0.1 0"; body != want || !strings.Contains(res.Header.Get("Cache-Status"), status) {
			t.Errorf("got %q, %s; want %q, %s", body, res.Header.Get("Cache-Status"), want, status)
		}
	}
	upload := bytes.Repeat([]byte("x"), 3<<20)
	res, err := http.Post(at+"/c", "text/plain", bytes.NewReader(upload))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != fmt.Sprintf("HTTP/2.0 POST /c %s 127.0.0.1 %d", s.address, len(upload)) {
		t.Errorf("got %q, %v", body, err)
	}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if _, body := get(t, fmt.Sprint(at, "/large?", i%20)); len(body) != 1<<20 {
				t.Errorf("got %d bytes, want all", len(body))
			}
		})
	}
	wg.Wait()
	for range 2 { // what was cut is not stored
		res, err := http.Get(at + "/cut")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); err == nil || strings.Contains(res.Header.Get("Cache-Status"), "hit") {
			t.Errorf("got %q as a whole, %s", body, res.Header.Get("Cache-Status"))
		}
		_ = res.Body.Close()
	}
	tells := func(path string, all ...string) func() bool { // a health check has a connection of its own for a moment
		return func() bool {
			_, text := get(t, "http://"+s.admin+path)
			return !slices.ContainsFunc(all, func(want string) bool { return !strings.Contains(text, want) })
		}
	}
	eventually(t, "the metric tells of one connection", tells("/metrics", `edgeproxy_origin_connections{origin="app",state="http2"} 1`+"\n"))
	eventually(t, "/status tells of one connection", tells("/status", `"state": "up"`, `"http2_connections": 1`))
	doesNotUpgrade(s)
}

// doesNotUpgrade wants an upgrade answered by 502, and the log to say why.
func doesNotUpgrade(s *server) {
	t := s.t
	t.Helper()
	r, _ := http.NewRequest(http.MethodGet, "http://"+s.address+"/socket", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadGateway {
		t.Errorf("got %d for an upgrade, want 502", res.StatusCode)
	}
	eventually(t, "the log says why", func() bool {
		for _, l := range s.lines() {
			if strings.Contains(l.Error, "an upgrade to another protocol needs an origin with HTTP/1.1") {
				return true
			}
		}
		return false
	})
}

// A server that is asked by the wrong version is a 502 whose cause the log has.
func TestAnOriginThatDoesNotOfferHTTP2(t *testing.T) {
	t.Parallel()
	url, certificate, _ := secureOrigin(t)
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q], protocol: h2, tls: {ca: %q}}}\n", url, certificate)))
	if res, _ := get(t, "http://"+s.address+"/"); res.StatusCode != http.StatusBadGateway {
		t.Errorf("got %d, want 502", res.StatusCode)
	}
	eventually(t, "the log says why", func() bool {
		for _, l := range s.lines() {
			if strings.Contains(l.Error, "does not offer HTTP/2") || strings.Contains(l.Error, "no application protocol") {
				return true
			}
		}
		return false
	})
}

func TestTheProtocolOfAnOriginIsReloaded(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	app := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), Protocols: protocols, ReadHeaderTimeout: time.Minute}
	go func() { _ = app.Serve(l) }()
	t.Cleanup(func() { _ = app.Close() })
	file := func(protocol string) string {
		return fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q], protocol: %s}}\n", "http://"+l.Addr().String(), protocol)
	}
	path := writeFile(t, "edge.yaml", file("http/1.1"))
	s := serveBinary(t, "-c", path)
	for _, step := range []struct{ protocol, want string }{{"http/1.1", "HTTP/1.1"}, {"h2", "HTTP/2.0"}, {"http/1.1", "HTTP/1.1"}} {
		if err := os.WriteFile(path, []byte(file(step.protocol)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := runBinary(t, "reload", "--admin", s.admin); got.code != 0 {
			t.Fatalf("%+v", got)
		}
		if _, body := get(t, "http://"+s.address+"/"); body != step.want {
			t.Errorf("%s: got %q, want %q", step.protocol, body, step.want)
		}
	}
	eventually(t, "its connections are closed", func() bool {
		_, text := get(t, "http://"+s.admin+"/metrics")
		return strings.Contains(text, `edgeproxy_origin_connections{origin="app",state="http2"} 0`+"\n")
	})
}
