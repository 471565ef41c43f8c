package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// echoOrigin is an origin that switches to a protocol which sends everything back, where a
// request asks for an upgrade. It answers other requests as usual.
func echoOrigin(t *testing.T) string {
	t.Helper()
	return "http://" + testkit.Accept(t, "127.0.0.1:0", serveEcho)
}

func serveEcho(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if r.Header.Get("Upgrade") != "" {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			_, _ = io.Copy(c, in)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// serveEchoes starts the program before an echoOrigin, with more settings.
func serveEchoes(t *testing.T, settings string) *server {
	t.Helper()
	return serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
%s`, echoOrigin(t), settings)))
}

// upgraded is a connection that was switched, and has carried a byte each way.
func (s *server) upgraded() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nx")
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatalf("got %v, %v, want 101", res, err)
	}
	if b, err := in.ReadByte(); b != 'x' {
		s.t.Fatalf("got %q, %v, want x", b, err)
	}
	return c
}

// status asks once, on a connection of its own; 0 without an answer.
func (s *server) status() int {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := c.Get("http://" + s.address + "/")
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestUpgradedKeepsItsPlace: a client does not escape the limits of connections by an upgrade.
func TestUpgradedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	f := func(setting, metric string, refusal int) {
		t.Helper()
		t.Run(setting, func(t *testing.T) {
			s := serveEchoes(t, "limits: {"+setting+": 2}\n")
			first := s.upgraded()
			s.upgraded()
			if _, text := get(t, "http://"+s.admin+"/metrics"); !strings.Contains(text, "\nedgeproxy_connections{state=\"upgraded\"} 2\n") {
				t.Error("the metric does not tell of two upgraded connections")
			}
			if got := s.told(); got != refusal {
				t.Errorf("a third connection: got %d, want %d", got, refusal)
			}
			if _, text := get(t, "http://"+s.admin+"/metrics"); !strings.Contains(text, "\nedgeproxy_limit_rejections_total{limit=\""+metric+"\"} 1\n") {
				t.Error("the metric does not tell of the refusal")
			}
			_ = first.Close()
			eventually(t, "there is a place again", func() bool { return s.status() == http.StatusOK })
		})
	}
	f("connections", "connections", http.StatusServiceUnavailable)
	f("connections_per_address", "connections_per_address", http.StatusTooManyRequests)
}

// told returns the status that a client gets who connects and says nothing: that of a
// refusal, which comes before any request.
func (s *server) told() int {
	s.t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Errorf("no refusal: %v", err)
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestUpgradedInTheAccessLog: one line at the end, with the bytes of both directions.
func TestUpgradedInTheAccessLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	s := serveEchoes(t, fmt.Sprintf("access_log: {path: %q}\n", path))
	_ = s.upgraded().Close()
	s.metricsAtRest()
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"status":101`, `"bytes":2`, `"result":"pass"`, `"reason":"upgrade"`} {
		if !strings.Contains(string(text), want) || strings.Count(string(text), "\n") != 1 {
			t.Errorf("got %q, want one line with %s", text, want)
		}
	}
}

// TestDrainWaitsForUpgraded: they have drain_timeout like requests, and are cut then;
// the end is orderly either way.
func TestDrainWaitsForUpgraded(t *testing.T) {
	t.Parallel()
	said := func(s *server, message string) bool {
		return slices.ContainsFunc(s.lines(), func(l logLine) bool { return l.Message == message })
	}
	t.Run("to their end", func(t *testing.T) {
		s := serveEchoes(t, "")
		c := s.upgraded()
		s.signal(syscall.SIGTERM)
		eventually(t, "new clients are refused", func() bool { return s.status() == 0 })
		if _, err := io.WriteString(c, "y"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Errorf("while the process leaves: %v", err)
		}
		_ = c.Close()
		s.wantExit(exitDone)
		if said(s, "upgraded connections were closed") || said(s, "requests were cut off") {
			t.Errorf("nothing was cut off, and the log says so: %v", s.lines())
		}
	})
	t.Run("within the limit", func(t *testing.T) {
		s := serveEchoes(t, "shutdown: {drain_timeout: 1s}\n")
		c := s.upgraded()
		s.signal(syscall.SIGTERM)
		if b, err := io.ReadAll(c); len(b) > 0 {
			t.Errorf("got %q, %v, want the end", b, err)
		}
		s.wantExit(exitDone)
		if !said(s, "upgraded connections were closed") || said(s, "requests were cut off") {
			t.Errorf("the log does not say what was ended: %v", s.lines())
		}
	})
}
