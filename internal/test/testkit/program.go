package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// installed says whether .ci/run installs a program of one of these names.
func installed(names []string) bool {
	root, err := repository()
	if err != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		return false
	}
	_, list, _ := strings.Cut(string(text), "needs=(")
	list, _, _ = strings.Cut(list, ")")
	for need := range strings.FieldsSeq(list) {
		program, _, _ := strings.Cut(need, "=")
		if slices.Contains(names, program) {
			return true
		}
	}
	return false
}

// Program returns the path of a program that is installed under one of these names.
// Without it the test is skipped, or fails where all tests have to run. A test that starts it is no quick one.
func Program(tb testing.TB, names ...string) string {
	tb.Helper()
	Slow(tb, "it starts "+names[0])
	if !installed(names) {
		tb.Fatalf("%s is not in the list of .ci/run, so a new machine would not have it", names[0])
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	notThere(tb, names[0])
	return ""
}

// File returns when a file that matches the pattern is there, which comes with what a program needs. Without it the test is skipped, or
// fails where all tests have to run.
func File(tb testing.TB, pattern string) {
	tb.Helper()
	if !installed([]string{pattern}) {
		tb.Fatalf("%s is not in the list of .ci/run, so a new machine would not have it", pattern)
	}
	if found, err := filepath.Glob(pattern); err != nil || len(found) == 0 {
		notThere(tb, pattern)
	}
}

// notThere skips the test, or fails it where all tests have to run.
func notThere(tb testing.TB, name string) {
	tb.Helper()
	if os.Getenv("EDGEPROXY_TEST_ALL") != "" {
		tb.Fatalf("%s is not there", name)
	}
	tb.Skipf("%s is not there", name)
}
