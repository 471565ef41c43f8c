package origin

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nginxConfig has %s for the folder and %s for the address.
const nginxConfig = `daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s ssl;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/key.pem;
		ssl_protocols TLSv1.2 TLSv1.3;
		ssl_session_cache shared:s:1m;
		root %[1]s;
		location / { return 200 "$connection $connection_requests $ssl_protocol $ssl_session_reused"; }
		location /large { default_type text/plain; }
		location /close { chunked_transfer_encoding off; keepalive_timeout 0; ssi on; ssi_types *; }
	}
}
`

// startNginx runs nginx with a certificate for 127.0.0.1, and returns its address.
// Without nginx the test is skipped.
func startNginx(t *testing.T, a *authority, large string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
		if _, err = os.Stat(program); err != nil {
			if os.Getenv("EDGEPROXY_TEST_ALL") != "" {
				t.Fatal("nginx is not there")
			}
			t.Skip("nginx is not there")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	certificate := a.good("127.0.0.1")
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"nginx.conf": fmt.Appendf(nil, nginxConfig, dir, address),
		"cert.pem":   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}),
		"key.pem":    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"large":      []byte(large),
		"close":      []byte(large),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	eventually(t, "nginx listens", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return address
}

// Another TLS than ours: its session tickets cost no connection, and its ends are
// ends.
func TestNginxOverTLS(t *testing.T) {
	a := newAuthority(t)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	address := startNginx(t, a, large)
	for version, name := range map[uint16]string{tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"} {
		o := open(t, Options{Address: address, TLS: &tls.Config{RootCAs: a.pool(), MaxVersion: version}})
		said := func() []string {
			t.Helper()
			_, body, err := fetch(o, get("/"))
			words := strings.Fields(body)
			if err != nil || len(words) != 4 || words[2] != name {
				t.Fatalf("%s: got %q and error %v", name, body, err)
			}
			return words
		}
		first := said()
		for range 3 {
			wantBody(t, o, get("/large"), large)
		}
		if again := said(); again[0] != first[0] || again[1] != "5" {
			t.Errorf("%s: got connection %s with %s requests, want %s with 5", name, again[0], again[1], first[0])
		}
		wantBody(t, o, get("/close"), large)
		if fresh := said(); fresh[0] == first[0] || fresh[3] != "r" {
			t.Errorf("%s: got connection %s, session reused %q, want another with the same session", name, fresh[0], fresh[3])
		}
	}
}
