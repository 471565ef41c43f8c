package recipes

import (
	"bufio"
	"crypto/tls"
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

	"edgeproxy/internal/test/testkit"
)

// breaking is a way in which a server breaks before the head of its response is whole.
type breaking struct {
	says string // in the document
	tls  bool
	then func(c net.Conn) // what it does with a connection, which is closed then; nil: it refuses all
}

func breakings() []breaking {
	after := func(answer string) func(net.Conn) {
		return func(c net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, answer)
			}
		}
	}
	return []breaking{
		{says: "refuses connections"},
		{says: "accepts them and closes", then: func(net.Conn) {}},
		{says: "resets them behind a request", then: func(c net.Conn) {
			after("")(c)
			_ = c.(*net.TCPConn).SetLinger(0)
		}},
		{says: "ends within the head", then: after("HTTP/1.1 200 OK\r\nContent-Le")},
		{says: "is silent, for a timeout of 1 s", then: func(c net.Conn) {
			after("")(c)
			_, _ = io.Copy(io.Discard, c)
		}},
		{says: "answers what is no HTTP", then: after("\x15\x03\x01 what is this\r\n\r\n")},
		{says: "fails in the TLS handshake", tls: true, then: func(c net.Conn) { _, _ = io.WriteString(c, "no TLS here\r\n\r\n") }},
	}
}

// start starts a server that breaks this way, and returns its address.
func (b *breaking) start(t *testing.T) string {
	t.Helper()
	if b.then == nil {
		return testkit.QuietAddress(t)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				b.then(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait() // the proxies have ended by then
	})
	return l.Addr().String()
}

// well starts a server that is well.
func (b *breaking) well(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "well") }))
	if b.tls {
		s.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// lostGETs returns how many of so many GETs the proxy at address does not answer with 200.
func lostGETs(t *testing.T, address string, gets int) (lost int) {
	t.Helper()
	for n := range gets {
		res, err := http.Get(fmt.Sprintf("http://%s/%d", address, n))
		if err != nil { // nginx does so, which passes on what is no HTTP
			lost++
			continue
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			lost++
		}
	}
	return lost
}

func (b *breaking) edge(t *testing.T, broken, well string) string {
	t.Helper()
	scheme, more := "http", ""
	if b.tls {
		scheme, more = "https", ", tls: {insecure_skip_verify: true}"
	}
	return serve(t, fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\norigins: {site: {servers: [\"%[1]s://%[2]s\", \"%[1]s://%[3]s\"], first_byte_timeout: 1s%[4]s}}\n"+
		"routes: [{name: site, origin: site}]\n", scheme, broken, well, more)).Addresses[0]
}

func (b *breaking) nginx(t *testing.T, program, broken, well string) string {
	t.Helper()
	scheme := "http"
	if b.tls {
		scheme = "https"
	}
	dir, address := t.TempDir(), testkit.QuietAddress(t)
	testkit.StartNginx(t, program, dir, nginxConfig(dir, fmt.Sprintf("upstream site { server %s; server %s; }\n"+
		"server { listen %s; location / { proxy_pass %s://site; proxy_read_timeout 1s; proxy_ssl_verify off; } }\n", broken, well, address, scheme)), address)
	return address
}

func (b *breaking) haproxy(t *testing.T, program, broken, well string) string {
	t.Helper()
	ssl := ""
	if b.tls {
		ssl = " ssl verify none"
	}
	file, address := filepath.Join(t.TempDir(), "haproxy.cfg"), testkit.QuietAddress(t)
	text := fmt.Sprintf("defaults\n mode http\n timeout connect 1s\n timeout client 60s\n timeout server 1s\n option redispatch 1\n retry-on all-retryable-errors\n"+
		"frontend f\n bind %s\n default_backend b\nbackend b\n server one %s%s\n server two %s%s\n", address, broken, ssl, well, ssl)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-db", "-f", file)
	return address
}

// TestRetriesBesidePeers prints the table of docs/conformance.md: of two servers one breaks, and the other is well. How many GETs are lost? The
// document must have it.
func TestRetriesBesidePeers(t *testing.T) {
	t.Parallel()
	nginx, haproxy := testkit.Nginx(t), testkit.Program(t, "haproxy", "/usr/sbin/haproxy")
	text, err := os.ReadFile(conformance)
	if err != nil {
		t.Fatal(err)
	}
	const ours, theirs = 143, 8 // 1,001 in all; a second for each that is silent, which HAProxy asks again and again
	all := breakings()
	rows := make([]string, len(all))
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			b := &all[i]
			lost := lostGETs(t, b.edge(t, b.start(t), b.well(t)), ours)
			if lost != 0 {
				t.Errorf("a server %s: edgeproxy lost %d of %d, want none", b.says, lost, ours)
			}
			rows[i] = fmt.Sprintf("| %s | %d of %d | %d of %d | %d of %d |\n", b.says, lost, ours,
				lostGETs(t, b.nginx(t, nginx, b.start(t), b.well(t)), theirs), theirs,
				lostGETs(t, b.haproxy(t, haproxy, b.start(t), b.well(t)), theirs), theirs)
		})
	}
	running.Wait()
	table := "| one of two servers | edgeproxy | nginx | HAProxy |\n|---|---|---|---|\n" + strings.Join(rows, "")
	t.Log("\n" + table)
	if !strings.Contains(string(text), table) {
		t.Errorf("docs/conformance.md does not have this table")
	}
}
