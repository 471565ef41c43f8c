package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// WriteFile writes a file of the test, in a folder of its own, and returns its path.
func WriteFile(tb testing.TB, name, content string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// RenameOver puts a file with this text in the place of the one at path, as editors do.
func RenameOver(tb testing.TB, path, text string) {
	tb.Helper()
	next := filepath.Join(filepath.Dir(path), ".next")
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		tb.Error(err)
	}
	if err := os.Rename(next, path); err != nil {
		tb.Error(err)
	}
}
