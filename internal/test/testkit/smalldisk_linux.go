package testkit

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// SmallDisk mounts a disk of so many bytes until the test is over, and returns its folder.
// Where none can be mounted the test is skipped.
func SmallDisk(t *testing.T, bytes int) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("none", folder, "tmpfs", 0, "size="+strconv.Itoa(bytes)); err != nil {
		t.Skipf("cannot mount: %v", err)
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
	if err := unix.Mount(folder, at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	return at
}
