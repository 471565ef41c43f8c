package testkit

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// SmallDisk mounts a disk of so many bytes until the test is over, and returns its folder.
// Where none can be mounted the test is skipped.
func SmallDisk(t *testing.T, bytes int) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(bytes), "none", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount: %v, %s", err, strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// ReadOnlyBind mounts folder once more, for reading alone, until the test is over, and returns where.
// Where that is not allowed the test is skipped.
func ReadOnlyBind(t *testing.T, folder string) string {
	t.Helper()
	at := t.TempDir()
	for _, args := range [][]string{{"--bind", folder, at}, {"-o", "remount,bind,ro", at}} {
		if out, err := exec.CommandContext(t.Context(), "mount", args...).CombinedOutput(); err != nil {
			t.Skipf("cannot mount: %v, %s", err, strings.TrimSpace(string(out)))
		}
		if args[0] == "--bind" {
			t.Cleanup(func() {
				if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
		}
	}
	return at
}
