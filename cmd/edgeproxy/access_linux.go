package main

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// faccessat returns why this process may not use the file at path so. It goes by what open(2) goes by: the effective user,
// and the capabilities that are in force. access(2) goes by the real user and, where that is not root, without them.
// Before Linux 5.8, and under filters of system calls that do not know the new one, it is all there is.
func faccessat(path string, mode uint32) error {
	err := unix.Faccessat2(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // EPERM may be the file's, and access(2) says it again then
		return syscall.Access(path, mode)
	}
	return err
}
