//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package statefile

import (
	"errors"
	"os"
	"syscall"
)

// lock locks f while it is open, and reports false if f is locked already. The lock
// belongs to the open file, not to the process, and the kernel removes it when the
// process ends. On a file system without locks it reports true.
func lock(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return !errors.Is(err, syscall.EWOULDBLOCK)
}
