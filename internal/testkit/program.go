package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that is installed under one of these names.
// Without it the test is skipped, or fails where all tests have to run.
func Program(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("EDGEPROXY_TEST_ALL") != "" {
		tb.Fatalf("%s is not there", names[0])
	}
	tb.Skipf("%s is not there", names[0])
	return ""
}
