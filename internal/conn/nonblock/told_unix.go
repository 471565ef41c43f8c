//go:build unix

package nonblock

import "syscall"

// ReadTold is Read by an ordinary call, of which the scheduler is told.
func ReadTold(fd int, p []byte) (n int, err error) {
	return syscall.Read(fd, p) //nolint:wrapcheck // callers look at the Errno
}
