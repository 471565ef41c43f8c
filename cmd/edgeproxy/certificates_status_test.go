package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

func TestStatusHasTheCertificatesThatEndFirst(t *testing.T) {
	t.Parallel()
	dir, authority := t.TempDir(), testkit.NewAuthority(t)
	var pairs []string
	pair := func(left time.Duration, names ...string) string {
		file := filepath.Join(dir, fmt.Sprint(len(pairs), ".pem"))
		testkit.WritePair(t, authority.Sign(time.Now().Add(left), names...), file, file+".key")
		pairs = append(pairs, fmt.Sprintf("{certificate: %q, key: %q}", file, file+".key"))
		return file
	}
	const day = 24 * time.Hour
	later := pair(40*day+time.Hour, "later.example.com", "127.0.0.1")
	ended := pair(-time.Hour, "ended.example.com")
	soon := pair(10*day+time.Hour, "soon.example.com", "*.soon.example.com")
	s := serveBinary(t, "-c", writeFile(t, "tls.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [%s]}
origins: {app: {servers: [%q]}}
`, strings.Join(pairs, ", "), cachedOrigin(t))))
	got := readStatus(t, s)
	var lines []string
	for _, c := range got.Certificates {
		lines = append(lines, fmt.Sprint(c.Names, " ", *c.DaysLeft, " ", c.From, " ", c.File))
	}
	want := []string{
		"[ended.example.com] -1 file " + ended, "[soon.example.com *.soon.example.com] 10 file " + soon, "[later.example.com 127.0.0.1] 40 file " + later,
	}
	if !slices.Equal(lines, want) || got.CertificateCount != 3 {
		t.Errorf("got %q, %d in all; want %q", lines, got.CertificateCount, want)
	}
	screen := runBinary(t, "status", "--admin", s.admin)
	for _, want := range []string{"-1, expired\n", "10, renew it\n", "40\n"} {
		if !strings.Contains(screen.stdout, want) {
			t.Errorf("no %q on the screen:\n%s", want, screen.stdout)
		}
	}
}
