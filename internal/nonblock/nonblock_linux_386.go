package nonblock

import "syscall"

// Where Linux makes the calls of sockets by one call for all, they are ordinary ones.

// Read is ReadTold.
func Read(fd int, p []byte) (n int, err error) { return ReadTold(fd, p) }

// Send sends from p, as it says for other processors, but by an ordinary call.
func Send(fd int, p []byte, more bool) (n int, err error) {
	flags := syscall.MSG_NOSIGNAL
	if more {
		flags |= syscall.MSG_MORE
	}
	return told(syscall.SendmsgN(fd, p, nil, nil, flags))
}

// Sendfile sends from a file, as it says for other processors, but by an ordinary call.
func Sendfile(fd, file int, offset *int64, length int) (n int, err error) {
	return told(syscall.Sendfile(fd, file, offset, length))
}

func told(n int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	return n, nil
}
