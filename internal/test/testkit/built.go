package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// built is the program, as all tests of this process use it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Built returns the path of the program as users have it. A package whose tests call it calls
// RemoveBuilt when all of them are over. A test that starts the program is no quick one, and the race detector sees nothing
// of it.
func Built(tb testing.TB) string {
	tb.Helper()
	Slow(tb, "it starts the built program")
	Plain(tb, "it starts the built program")
	built.once.Do(func() {
		root, err := repository()
		if err != nil {
			built.err = err
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "edgeproxy-built-"); built.err != nil {
			return
		}
		built.err = build(root, "edgeproxy", "./cmd/edgeproxy", filepath.Join(built.dir, "edgeproxy"))
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

// build makes the program of a package, with the flags of scripts/build.sh, and copies it to path. Processes that build one
// program share .cache/built, so only the first one links it.
func build(module, name, pkg, path string) error {
	root, err := repository()
	if err != nil {
		return err
	}
	shared := filepath.Join(root, ".cache", "built")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	lock, err := os.OpenFile(filepath.Join(shared, name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	defer func() { _ = lock.Close() }() // and with it the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("build %s: lock: %w", name, err)
	}
	program := filepath.Join(shared, name)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return copyProgram(path, program)
}

func copyProgram(to, from string) error {
	program, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, program, 0o755)
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

// repository returns the folder of the whole source, which is above that of the test.
func repository() (string, error) {
	for at := "."; len(at) < 64; at = filepath.Join(at, "..") {
		if _, err := os.Stat(filepath.Join(at, "tools", "go.mod")); err == nil {
			return filepath.Abs(at)
		}
	}
	return "", errors.New("tools/go.mod is in no folder above")
}
