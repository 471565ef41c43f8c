//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package statefile

import (
	"errors"
	"os"
	"syscall"
)

// claim locks f for as long as it is open, and reports false if another has. The
// lock belongs to the open file, not to the process, and the kernel lifts it when
// its owner dies. On a file system without locks it reports true.
func claim(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return !errors.Is(err, syscall.EWOULDBLOCK)
}
