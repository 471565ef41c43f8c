package testkit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// OpenPage opens an HTML document in Chromium, from a file. It returns the document after its
// scripts have run, and what the console says, a line each. Without Chromium the test is
// skipped.
func OpenPage(tb testing.TB, document string) (dom string, console []string) {
	tb.Helper()
	program := Program(tb, "chromium", "chromium-browser", "google-chrome")
	file := filepath.Join(tb.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 2*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+tb.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", "file://"+file)
	cmd.WaitDelay = time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, ":CONSOLE") {
			console = append(console, strings.TrimSpace(line))
		}
	}
	return string(out), console
}
