package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is the program, built once for all tests of this process.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Built returns the path of the program as users have it. A package whose tests call it calls
// RemoveBuilt when all of them are over.
func Built(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "edgeproxy-built-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "edgeproxy"), "edgeproxy/cmd/edgeproxy").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return filepath.Join(built.dir, "edgeproxy")
}

// RemoveBuilt removes what Built has made, if anything.
func RemoveBuilt() error {
	if built.dir == "" {
		return nil
	}
	return os.RemoveAll(built.dir)
}
