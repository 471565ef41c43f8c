package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// A release said its version and not its commit, and --version was an unknown flag.
func TestAReleaseSaidNotWhichCommitItIs(t *testing.T) {
	testkit.Slow(t, "it builds the program")
	testkit.Plain(t, "it builds and starts the program")
	t.Parallel()
	program := filepath.Join(t.TempDir(), "edgeproxy")
	build := exec.Command("go", "build", "-pgo=off", "-buildvcs=false", "-ldflags", "-X main.version=1.2.3 -X main.commit=0123456789ab", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "edgeproxy 1.2.3 commit 0123456789ab " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for _, argument := range []string{"version", "--version"} {
		got, err := exec.Command(program, argument).CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", argument, got, err, want)
		}
	}
}
