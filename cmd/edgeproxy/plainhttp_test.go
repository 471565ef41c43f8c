package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPlainHTTPToAPortOfTLS: it got an empty answer, and no log had it.
func TestPlainHTTPToAPortOfTLS(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t)
	dir := t.TempDir()
	log, socket := filepath.Join(dir, "access.log"), filepath.Join(dir, "edge.sock")
	start := func(socket, headerTimeout string) *server {
		return serveBinary(t, "-c", writeFile(t, "tls.yaml", fmt.Sprintf(`
listen:
  - {address: "127.0.0.1:0", tls: true, livez: true}
  - {address: "unix:%s", tls: true, proxy_protocol: true}
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
origins: {app: {servers: [%q]}}
limits: {header_timeout: %s}
access_log: {path: %q, format: template, template: "{scheme} {method} {target} {status} {result} {reason} {client}"}
`, socket, certificate, key, app(t), headerTimeout, log)))
	}
	s := start(socket, "10m")
	const text = "Bad Request: this port expects TLS: use a URL that begins with https\n"
	ask := func(network, address, request string) {
		t.Helper()
		c, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, request)
		r := bufio.NewReader(c)
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Errorf("%.20q: %v", request, err)
			return
		}
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusBadRequest || string(body) != text || !res.Close || !strings.Contains(res.Header.Get("Cache-Status"), "detail=plain-http") {
			t.Errorf("%.20q: got %d, %q, %v", request, res.StatusCode, body, res.Header)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%.20q: the connection goes on: %v", request, err)
		}
	}
	ask("tcp", s.address, "GET /a HTTP/1.1\r\nHost: www.example.com\r\n\r\n")
	ask("tcp", s.address, "GET /livez HTTP/1.0\r\n\r\n")
	ask("tcp", s.address, "POST /b HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
	ask("tcp", s.address, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	ask("tcp", s.address, "get / \r\n\r\n")
	ask("unix", socket, "PROXY TCP4 192.0.2.9 10.0.0.1 1 443\r\nGET /c HTTP/1.1\r\nHost: www.example.com\r\n\r\n")
	short := start(socket+".short", "1s")             // apart, as a busy machine may take as long for the others
	for _, begin := range []string{"G", "\x80", ""} { // none holds its connection for longer than its time
		c, err := net.Dial("tcp", short.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, begin)
		if _, err := io.Copy(io.Discard, c); isTimeout(err) {
			t.Errorf("after %q the connection stays", begin)
		}
	}
	for _, two := range []bool{false, true} {
		res, err := s.speaks(t, two).Get("https://www.example.com/echo")
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("two %v: got %v, %v behind them", two, res, err)
		}
	}
	eventually(t, "no connection without TLS is left", func() bool { return s.connections() <= "2" && short.connections() == "0" })
	for _, one := range []*server{s, short} {
		one.signal(syscall.SIGTERM)
		one.wantExit(exitDone)
	}
	lines := strings.Join(logOf(t, log), "\n")
	for _, want := range []string{
		"http GET /a 400 error plain-http 127.0.0.1", "http GET /livez 400 error plain-http 127.0.0.1", "http POST /b 400 error plain-http 127.0.0.1",
		"http GET /c 400 error plain-http 192.0.2.9", "https - - 408 error client-timeout 127.0.0.1", "https GET /echo 200 ",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("the log lacks %q:\n%s", want, lines)
		}
	}
}

func isTimeout(err error) bool {
	var e net.Error
	ok := errors.As(err, &e)
	return ok && e.Timeout()
}
