//go:build unix && !linux

package nonblock

import (
	"errors"
	"syscall"
)

// Read is ReadTold.
func Read(fd int, p []byte) (n int, err error) { return ReadTold(fd, p) }

// Quiet reports whether nothing has come on the socket fd since it was last read: no byte, no end, no error. It
// takes nothing.
func Quiet(fd int) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
}

// Send sends from p by an ordinary call, which the scheduler is told of. Nothing waits for what follows.
func Send(fd int, p []byte, _ bool) (n int, err error) {
	return syscall.Write(fd, p) //nolint:wrapcheck // callers look at the Errno
}
