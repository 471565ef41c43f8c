package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// Clients refused all that was served, and check said ok.
func TestCheckSaidNothingOfACertificateThatHasEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem")
	file := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nlisten: [{address: \"127.0.0.1:0\", tls: true}]\n"+
		"tls: {certificates: [{certificate: "+certificate+", key: "+key+"}]}\n")
	a := testkit.NewAuthority(t)
	f := func(until time.Time, mode os.FileMode, want string) {
		t.Helper()
		testkit.WritePair(t, a.Sign(until, "www.example.com"), certificate, key)
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		got := runBinary(t, "check", "-c", file)
		if got.code != exitDone || want == "" && got.stderr != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("until %v, mode %o: got %d %q, want %q", until, mode, got.code, got.stderr, want)
		}
	}
	f(time.Now().Add(time.Hour), 0o600, "")
	f(time.Now().Add(time.Hour), 0o644, "tls.certificates[0].key: "+key+": everybody on this machine can read the key")
	f(time.Now().Add(-time.Minute), 0o600, "tls.certificates[0].certificate: "+certificate+": it expired at ")
}
