package acme

import (
	"crypto/x509"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func pool(t *testing.T, text []byte) *x509.CertPool {
	t.Helper()
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		t.Fatal("no certificate")
	}
	return p
}

var dueNames atomic.Int64

// dueName returns a name that no other test renews: certmagic remembers, for the process,
// whose renewal has failed, and waits.
func dueName() string { return fmt.Sprintf("due-%d.example", dueNames.Add(1)) }

// listen listens where the authority looks.
func listen(t *testing.T) net.Listener {
	t.Helper()
	return listenAt(t, net.JoinHostPort(testkit.QuietHost, "0"))
}

func listenAt(t *testing.T, address string) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}
