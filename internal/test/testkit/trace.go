package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Trace returns the path of one of the usual traces, or of their folder where name is "". They
// lie outside the project: in TRACES, relative to the repository, or where loadtest/usual.sh
// looks. Without it the test is skipped.
func Trace(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv("TRACES")
	if dir == "" {
		dir = filepath.Join("..", "shared", "traces")
	}
	if !filepath.IsAbs(dir) { // it begins at the top of the repository
		top, err := repository()
		if err != nil {
			tb.Fatal(err)
		}
		dir = filepath.Join(top, dir)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		tb.Skip("the traces are not there")
	}
	return path
}
