//go:build linux && !386 && !race

package nonblock

import (
	"syscall"
	"unsafe"
)

// Read reads what has come on the socket fd into p, which has at least one byte. It returns how many bytes
// that are, 0 at the end; or -1 with a syscall.Errno, EAGAIN where nothing has come.
func Read(fd int, p []byte) (n int, err error) {
	return result(syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0))
}

// Quiet reports whether nothing has come on the socket fd since it was last read: no byte, no end, no error. It
// takes nothing.
func Quiet(fd int) bool {
	var b [1]byte
	const look = syscall.MSG_PEEK | syscall.MSG_DONTWAIT
	_, err := result(syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), look, 0, 0))
	return err == syscall.EAGAIN //nolint:errorlint // a bare Errno
}

// Send sends from p, which has at least one byte, on the socket fd as much as it takes. It returns how many
// bytes that are; or -1 with a syscall.Errno, EAGAIN where it takes nothing now. more says that something follows
// at once, with which a short p may wait. Where the other side is gone there is an error, and no signal.
func Send(fd int, p []byte, more bool) (n int, err error) {
	flags := uintptr(syscall.MSG_NOSIGNAL)
	if more {
		flags |= syscall.MSG_MORE
	}
	return result(syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0))
}

// Sendfile sends length bytes of the file from *offset on, on the socket fd, as far as it takes them, and moves
// *offset behind them. It returns how many they are, 0 behind the end of the file; or -1 with a syscall.Errno. The
// bytes must be in memory, as those of a memory file are, or it blocks.
func Sendfile(fd, file int, offset *int64, length int) (n int, err error) {
	return result(syscall.RawSyscall6(syscall.SYS_SENDFILE, uintptr(fd), uintptr(file), uintptr(unsafe.Pointer(offset)), uintptr(length), 0, 0))
}

func result(n, _ uintptr, e syscall.Errno) (int, error) {
	if e != 0 {
		return -1, e
	}
	return int(n), nil
}
