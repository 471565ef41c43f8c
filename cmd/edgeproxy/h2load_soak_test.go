//go:build soak

package main

import (
	"strings"
	"testing"
)

// TestH2load prints what h2load finds of hits over TLS, by HTTP/2 and by HTTP/1.1 with as
// many requests under way.
func TestH2load(t *testing.T) {
	t.Parallel()
	const asked = 100_000
	s := serveTLS(t, library(t), "")
	url := "https://" + s.address
	for _, path := range []string{"/kept/1024", "/kept/65536"} {
		load(t, 100, "-c", "1", "-m", "1", url+path)
		for _, version := range [][]string{{"-c", "8", "-m", "16"}, {"--h1", "-c", "128", "-m", "1"}} {
			report := load(t, asked, append(version, url+path)...)
			for line := range strings.Lines(report) {
				if strings.HasPrefix(line, "finished in") || strings.HasPrefix(line, "time for request") {
					t.Logf("%s %s: %s", strings.Join(version, " "), path, strings.TrimSpace(line))
				}
			}
		}
	}
}
