//go:build linux && (386 || race)

package nonblock

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// Here all are ordinary calls. On 386 Linux makes the calls of sockets by one call for all. And the race detector takes what
// was written before one ordinary call for seen after the other that reads it; of any others it knows nothing.

// Read is ReadTold.
func Read(fd int, p []byte) (n int, err error) { return ReadTold(fd, p) }

// Quiet reports whether nothing has come on the socket fd since it was last read, as it says for other processors.
func Quiet(fd int) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
}

// Send sends from p, as it says for other processors. Nothing waits for what follows. An end is an error: the runtime
// ignores the signal.
func Send(fd int, p []byte, _ bool) (n int, err error) {
	return told(syscall.Write(fd, p))
}

// SendBoth sends head and body, as it says for other processors.
func SendBoth(fd int, head, body []byte) (n int, err error) {
	return told(unix.Writev(fd, [][]byte{head, body}))
}

// ReadCached reads what the page cache has of a file, as it says for other processors.
func ReadCached(fd int, p []byte, offset int64) (n int, err error) {
	return told(unix.Preadv2(fd, [][]byte{p}, offset, unix.RWF_NOWAIT))
}

// Sendfile sends from a file, as it says for other processors.
func Sendfile(fd, file int, offset *int64, length int) (n int, err error) {
	return told(syscall.Sendfile(fd, file, offset, length))
}

func told(n int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	return n, nil
}
