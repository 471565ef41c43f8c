package edge

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// faccessat returns an error if this process may not use the file at path in this mode. Like open(2) it checks the
// effective user and the effective capabilities. access(2) checks the real user and, unless that is root, ignores
// capabilities. It is the fallback before Linux 5.8, and under seccomp filters that do not know faccessat2.
func faccessat(path string, mode uint32) error {
	err := unix.Faccessat2(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // EPERM may also come from the file: access(2) then returns it again
		return syscall.Access(path, mode)
	}
	return err
}
