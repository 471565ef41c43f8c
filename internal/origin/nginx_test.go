package origin

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// nginxHTTP is its http section, for the folder and the address.
const nginxHTTP = `
	access_log off;
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
`

// startNginx runs nginx with a certificate for its host, and returns its address.
// Without nginx the test is skipped.
func startNginx(t *testing.T, a *testkit.Authority, large string) string {
	t.Helper()
	program, address, dir := testkit.Nginx(t), testkit.QuietAddress(t), t.TempDir()
	testkit.WritePair(t, a.Good(testkit.QuietHost), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	for _, name := range []string{"large", "close"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testkit.ServeByNginx(t, program, dir, fmt.Sprintf(nginxHTTP, dir, address), address)
	return address
}

// Another TLS than ours: its session tickets cost no connection, and its ends are
// ends.
func TestNginxOverTLS(t *testing.T) {
	a := testkit.NewAuthority(t)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	address := startNginx(t, a, large)
	for version, name := range map[uint16]string{tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"} {
		o := open(t, Options{Address: address, TLS: &tls.Config{RootCAs: a.Pool(), MaxVersion: version}})
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
