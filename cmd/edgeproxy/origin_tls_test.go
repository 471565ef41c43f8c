package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// secureOrigin is a server over TLS that says who asked and how, with the files of
// its certificate, which stands for itself, and of the key.
func secureOrigin(t *testing.T) (url, certificate, key string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto, " ", r.Header.Get("X-Forwarded-Proto"), " ", len(r.TLS.PeerCertificates))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes of clients that do not trust it
	s.StartTLS()
	t.Cleanup(s.Close)
	certificate, key = writeFile(t, "origin.pem", ""), writeFile(t, "origin.key", "")
	testkit.WritePair(t, s.TLS.Certificates[0], certificate, key)
	return s.URL, certificate, key
}

func serveTLSOrigin(t *testing.T, url, settings string) *server {
	t.Helper()
	return serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q], tls: {%s}}}
`, url, settings)))
}

// The client's scheme stays what it was: TLS to the origin is our own.
func TestTLSToAnOrigin(t *testing.T) {
	t.Parallel()
	url, certificate, key := secureOrigin(t)
	f := func(settings, want string) {
		t.Helper()
		s := serveTLSOrigin(t, url, settings)
		if res, got := get(t, "http://"+s.address+"/"); res.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: got %d and %q, want 200 and %q", settings, res.StatusCode, got, want)
		}
	}
	f(fmt.Sprintf("ca: %q", certificate), "HTTP/1.1 http 0")
	f(fmt.Sprintf("ca: %q, server_name: example.com, min_version: 1.3, certificate: %q, key: %q", certificate, certificate, key), "HTTP/1.1 http 1")
	f("insecure_skip_verify: true", "HTTP/1.1 http 0")
}

// The log says what is wrong with a certificate; the client is told nothing of it.
func TestUntrustedOriginIsA502(t *testing.T) {
	t.Parallel()
	url, certificate, _ := secureOrigin(t)
	f := func(settings, want string) {
		t.Helper()
		s := serveTLSOrigin(t, url, settings)
		res, body := get(t, "http://"+s.address+"/")
		if res.StatusCode != http.StatusBadGateway || !strings.Contains(res.Header.Get("Cache-Status"), "detail=origin-error") {
			t.Errorf("%s: got %d and Cache-Status %q, want 502 for origin-error", settings, res.StatusCode, res.Header.Get("Cache-Status"))
		}
		if strings.Contains(body, "certificate") || strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s: got %q, want nothing of the inside", settings, body)
		}
		eventually(t, settings+": the log says "+want, func() bool {
			for _, l := range s.lines() {
				if l.Level == "WARN" && strings.Contains(l.Error, want) {
					return true
				}
			}
			return false
		})
	}
	f("", "certificate signed by unknown authority")
	f(fmt.Sprintf("ca: %q, server_name: other.test", certificate), "not other.test")
}
