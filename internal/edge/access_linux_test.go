package edge

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/test/testkit"
)

const nobody = 65534

// asUser calls f on a thread of its own that has these users, and these capabilities in force where the effective one is
// not root. The thread ends with it.
func asUser(t *testing.T, realID, effective uintptr, capabilities uint32, f func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and no UnlockOSThread: the thread goes
		_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_KEEPCAPS, 1, 0)
		if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, realID, effective, 0); err != 0 {
			done <- err
			return
		}
		if effective != 0 {
			data := [2]unix.CapUserData{{Effective: capabilities, Permitted: capabilities}}
			if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0]); err != nil {
				done <- err
				return
			}
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Skip(err)
	}
}

// A service with capabilities, or a program that is set to another user, was told that it may not do what it may, or
// that it may do what it may not: check asked for the real user, without capabilities.
func TestCheckAskedForTheRealUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	folder, err := os.MkdirTemp("/tmp", "edgeproxy-*") // where everybody may search
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // for everybody to search
		t.Fatal(err)
	}
	path := filepath.Join(folder, "access.log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(name string, realID, effective uintptr, capabilities uint32, may bool) {
		t.Helper()
		var said, opened error
		asUser(t, realID, effective, capabilities, func() {
			said = checkAccess(path, mayWrite)
			var file *os.File
			if file, opened = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); opened == nil {
				_ = file.Close()
			}
		})
		if (opened == nil) != may {
			t.Fatalf("%s: the test is not what it says: open said %v", name, opened)
		}
		if (said == nil) != may || said != nil && !errors.Is(said, syscall.EACCES) {
			t.Errorf("%s: got %v, open says %v", name, said, opened)
		}
	}
	f("root", 0, 0, 0, true)
	f("somebody else", nobody, nobody, 0, false)
	f("set to root", nobody, 0, 0, true)
	f("root for somebody else", 0, nobody, 0, false)
	f("with a capability", nobody, nobody, 1<<unix.CAP_DAC_OVERRIDE, true)
}

// What cannot be written to by anybody is said to be so.
func TestAccessToWhatNobodyMayWrite(t *testing.T) {
	bound := testkit.ReadOnlyBind(t, t.TempDir())
	if err := faccessat(bound, mayWrite); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v, want %v", err, syscall.EROFS)
	}
}
