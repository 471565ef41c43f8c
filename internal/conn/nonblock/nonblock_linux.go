//go:build linux && !386 && !race

package nonblock

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

// SendBoth is Send of head and then of body, by one call. Neither is empty.
func SendBoth(fd int, head, body []byte) (n int, err error) {
	pieces := [2]syscall.Iovec{{Base: &head[0]}, {Base: &body[0]}}
	pieces[0].SetLen(len(head))
	pieces[1].SetLen(len(body))
	message := syscall.Msghdr{Iov: &pieces[0], Iovlen: 2}
	n, err = result(syscall.RawSyscall6(syscall.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)), syscall.MSG_NOSIGNAL, 0, 0, 0))
	runtime.KeepAlive(&message)
	return n, err
}

// ReadCached reads from the file fd, from offset on, into p, which has at least one byte, as far as the page cache has
// it now. It returns how many bytes that are; or -1 with a syscall.Errno, EAGAIN where the first would have to come from
// the device, EOPNOTSUPP or ENOSYS where the system does not tell.
func ReadCached(fd int, p []byte, offset int64) (n int, err error) {
	piece := syscall.Iovec{Base: &p[0]}
	piece.SetLen(len(p))
	const halfBits = bits.UintSize / 2
	high := uint64(offset) >> halfBits >> halfBits //nolint:gosec // not negative; for processors of 32 bits
	n, err = result(syscall.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&piece)), 1,
		uintptr(offset), uintptr(high), unix.RWF_NOWAIT))
	runtime.KeepAlive(&piece)
	return n, err
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
