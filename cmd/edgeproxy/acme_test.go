package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// acmeFile is a configuration with a listener for TLS and one without, and certificates for
// these names by ACME. More goes into the section.
type acmeFile struct{ secure, plain, directory, storage, origin, more string }

func newACMEFile(t *testing.T, more string) *acmeFile {
	t.Helper()
	return &acmeFile{
		secure: testkit.QuietAddress(t), plain: testkit.QuietAddress(t), directory: testkit.QuietAddress(t),
		storage: filepath.Join(t.TempDir(), "acme"), origin: app(t), more: more,
	}
}

func (f *acmeFile) write(t *testing.T, ca string) string {
	t.Helper()
	return writeFile(t, "acme.yaml", fmt.Sprintf(`
listen: [{address: %q, tls: true}, {address: %q}]
admin: {address: "127.0.0.1:0"}
tls: {acme: {names: [one.example, two.example], accept_terms: true, email: admin@example.com, directory: "https://%s/dir", ca: %q, storage: %q%s}}
admission: {policy: always}
origins: {app: {servers: [%q]}}
log: {level: debug}
`, f.secure, f.plain, f.directory, ca, f.storage, f.more, f.origin))
}

// shakes returns the certificate that a client gets that asks for name and trusts roots.
func (s *server) shakes(name string, roots *x509.CertPool) (*x509.Certificate, error) {
	c, err := tls.Dial("tcp", s.address, &tls.Config{RootCAs: roots, ServerName: name, InsecureSkipVerify: roots == nil})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0], nil
}

// value returns a metric without labels.
func (s *server) value(t *testing.T, name string) string {
	t.Helper()
	_, text := get(t, "http://"+s.admin+"/metrics")
	_, rest, _ := strings.Cut(text, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func TestCertificatesComeByACME(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{"tls-alpn-01", "http-01"} {
		t.Run(challenge, func(t *testing.T) {
			t.Parallel()
			f := newACMEFile(t, ", challenges: ["+challenge+"]")
			p := testkit.StartPebble(t, testkit.PebbleOptions{Address: f.directory, HTTP: f.plain, TLS: f.secure})
			roots := p.Roots(t)
			s := serveBinary(t, "-c", f.write(t, p.CA))
			if !testkit.ComesTrue(func() bool { return s.value(t, "edgeproxy_acme_missing_certificates") == "0" }) {
				t.Fatalf("no certificates: %v", s.lines())
			}
			first, err := s.shakes("one.example", roots)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.shakes("two.example", roots); err != nil {
				t.Error(err)
			}
			if c, err := s.shakes("elsewhere.example", nil); err != nil || c.VerifyHostname("one.example") != nil {
				t.Errorf("a name of nobody: got %v, %v, want the first certificate", c, err)
			}
			wantServed(t, s, roots)
			if end := s.value(t, "edgeproxy_certificate_expiry_timestamp_seconds"); !strings.HasPrefix(end, "1.") {
				t.Errorf("got expiry %q", end)
			}
			for i, c := range readStatus(t, s).Certificates {
				if i > 1 || c.From != "acme" || c.NotAfter == nil || c.DaysLeft == nil || *c.DaysLeft < 1 || len(c.Names) != 1 {
					t.Errorf("/status has %+v, want a certificate by ACME for each name", c)
				}
			}
			wantNoTrace(t, s, f)
			s.signal(syscall.SIGTERM)
			s.wantExit(exitDone)

			p.Stop() // nobody is asked for what is stored
			s = serveBinary(t, "-c", f.write(t, p.CA))
			again, err := s.shakes("one.example", roots)
			if err != nil || again.SerialNumber.Cmp(first.SerialNumber) != 0 {
				t.Errorf("after a restart: got %v, %v, want the same certificate", again, err)
			}
			if got := s.value(t, "edgeproxy_acme_failures_total"); got != "0" {
				t.Errorf("after a restart: got %s failures", got)
			}
		})
	}
}

// wantServed asks by both versions.
func wantServed(t *testing.T, s *server, roots *x509.CertPool) {
	t.Helper()
	for _, two := range []bool{false, true} {
		c := s.speaks(t, two)
		c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
		res, err := c.Get("https://two.example/echo")
		if err != nil {
			t.Errorf("two %v: %v", two, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.ProtoMajor != map[bool]int{false: 1, true: 2}[two] || !strings.HasPrefix(string(text), "GET two.example https") {
			t.Errorf("two %v: got %s %q, %v", two, res.Proto, text, err)
		}
	}
}

// wantNoTrace sees that requests and handshakes like those of challenges, but of none, are
// like all others.
func wantNoTrace(t *testing.T, s *server, f *acmeFile) {
	t.Helper()
	res, _ := get(t, "http://"+f.plain+"/.well-known/acme-challenge/none-of-ours")
	if res.StatusCode != http.StatusNotFound || !strings.Contains(res.Header.Get("Cache-Status"), "fwd=uri-miss") {
		t.Errorf("a token of nobody: got %d, %q, want the origin's answer", res.StatusCode, res.Header.Get("Cache-Status"))
	}
	if c, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, ServerName: "one.example", NextProtos: []string{"acme-tls/1"}}); err == nil {
		t.Errorf("a challenge of nobody: got a handshake, %s", c.ConnectionState().NegotiatedProtocol)
		_ = c.Close()
	}
}

// TestADirectoryThatIsDown: everything else is served, and what is missing is told.
func TestADirectoryThatIsDown(t *testing.T) {
	t.Parallel()
	f := newACMEFile(t, "")
	s := serveBinary(t, "-c", f.write(t, ""))
	eventually(t, "a try has failed", func() bool { return s.value(t, "edgeproxy_acme_failures_total") != "0" })
	if res, text := get(t, "http://"+f.plain+"/echo"); res.StatusCode != http.StatusOK {
		t.Errorf("got %d, %s, want the other listener to serve", res.StatusCode, text)
	}
	if _, err := s.shakes("one.example", nil); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("got %v, want no certificate for the name", err)
	}
	if _, err := s.shakes("", nil); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("got %v, want no certificate for no name", err)
	}
	if missing, end := s.value(t, "edgeproxy_acme_missing_certificates"), s.value(t, "edgeproxy_certificate_expiry_timestamp_seconds"); missing != "2" || end != "0" {
		t.Errorf("got %s missing, expiry %s", missing, end)
	}
	if got := readStatus(t, s).Certificates; len(got) != 2 || got[0].NotAfter != nil || got[0].DaysLeft != nil || got[1].From != "acme" {
		t.Errorf("/status has %+v, want both names without a certificate", got)
	}
	if told := s.said("no certificate was obtained"); !strings.Contains(told.Error, "connection refused") || told.Level != "ERROR" {
		t.Errorf("got %+v, want an error that says what is wrong", told)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}

// said returns the first line of the log with this message.
func (s *server) said(message string) logLine {
	for _, l := range s.lines() {
		if strings.HasPrefix(l.Message, message) {
			return l
		}
	}
	return logLine{}
}

// TestStoppingDoesNotWaitForTheAuthority stops while the authority is silent.
func TestStoppingDoesNotWaitForTheAuthority(t *testing.T) {
	t.Parallel()
	f := newACMEFile(t, "")
	silent, err := net.Listen("tcp", f.directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	s := serveBinary(t, "-c", f.write(t, ""))
	c, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	if told := s.said("no certificate was obtained"); told.Message != "" {
		t.Errorf("got %+v, want nothing of what was meant to end", told)
	}
}

// TestAFileGoesBeforeACME: no certificate is ordered for a name that a file is for, and
// names that nobody has get the first file.
func TestAFileGoesBeforeACME(t *testing.T) {
	t.Parallel()
	certificate, key := certificateFiles(t) // www.example.com
	storage := filepath.Join(t.TempDir(), "acme")
	s := serveBinary(t, "-c", writeFile(t, "both.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls:
  certificates: [{certificate: %q, key: %q}]
  acme: {names: [www.example.com, one.example], accept_terms: true, directory: "https://%s/dir", storage: %q}
origins: {app: {servers: [%q]}}
`, certificate, key, testkit.QuietAddress(t), storage, app(t))))
	for _, name := range []string{"www.example.com", "elsewhere.example", ""} {
		if c, err := s.shakes(name, nil); err != nil || c.VerifyHostname("www.example.com") != nil {
			t.Errorf("%q: got %v, %v, want the file", name, c, err)
		}
	}
	if _, err := s.shakes("one.example", nil); err == nil {
		t.Error("one.example: got a certificate, want none of another name")
	}
	if got := s.value(t, "edgeproxy_acme_missing_certificates"); got != "1" {
		t.Errorf("got %s missing, want that of one.example alone", got)
	}
	if s.said("no certificate is ordered for a name").Level != "WARN" {
		t.Errorf("got %v, want a warning", s.lines())
	}
}

func TestFilesOfACMEAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(ca, storage string) string {
		return writeFile(t, "acme.yaml", fmt.Sprintf(`origins: {app: {servers: ["http://127.0.0.1:9"]}}
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls:
  acme:
    {names: [one.example], accept_terms: true, directory: "https://127.0.0.1:9",
    ca: %q,
    storage: %q}
`, ca, storage))
	}
	for _, command := range []string{"check", "serve"} {
		done := runBinary(t, command, "-c", file(empty, empty))
		for _, want := range []string{
			"acme.yaml:7:9: tls.acme.ca: ", "must be a file with certificates in PEM: there is none in it",
			"acme.yaml:8:14: tls.acme.storage: ", "must be a folder that can be written to: ",
		} {
			if done.code != exitUsage || !strings.Contains(done.stderr, want) {
				t.Errorf("%s: got %d %s, want %d and %q", command, done.code, done.stderr, exitUsage, want)
			}
		}
	}
	done := runBinary(t, "serve", "-c", file("", filepath.Join(empty, "below")))
	if done.code == exitDone || !strings.Contains(done.stderr, "acme.yaml:8:14: tls.acme.storage: ") {
		t.Errorf("a folder that cannot be made: got %d %s", done.code, done.stderr)
	}
	storage := filepath.Join(dir, "new")
	if done := runBinary(t, "check", "-c", file("", storage)); done.code != exitDone {
		t.Errorf("got %d %s, want it to be right", done.code, done.stderr)
	}
	if _, err := os.Stat(storage); err == nil {
		t.Error("check has made the folder")
	}
}

// TestTheHandshakeOfAChallengeEndsTheConnection takes the place of an authority: it gives a
// challenge, looks at it, and finds the connection closed after the handshake.
func TestTheHandshakeOfAChallengeEndsTheConnection(t *testing.T) {
	t.Parallel()
	program(t) // which leaves the test to another run before pebble starts
	f := newACMEFile(t, ", challenges: [tls-alpn-01]")
	p := testkit.StartPebble(t, testkit.PebbleOptions{Address: f.directory, HTTP: f.plain, TLS: testkit.QuietAddress(t)}) // looks elsewhere
	s := serveBinary(t, "-c", f.write(t, p.CA))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: "one.example", NextProtos: []string{"acme-tls/1"}}}
	var c net.Conn
	eventually(t, "the challenge is answered", func() bool {
		var err error
		c, err = d.DialContext(ctx, "tcp", s.address)
		return err == nil
	})
	defer c.Close()
	shown := c.(*tls.Conn).ConnectionState()
	if shown.NegotiatedProtocol != "acme-tls/1" || shown.PeerCertificates[0].VerifyHostname("one.example") != nil {
		t.Errorf("got %q, %v", shown.NegotiatedProtocol, shown.PeerCertificates[0].DNSNames)
	}
	if n, err := c.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // Read returns it as it is
		t.Errorf("got %d bytes, %v, want the end", n, err)
	}
}
