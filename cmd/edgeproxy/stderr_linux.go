package main

import (
	"os"
	"syscall"
)

// ownStderr makes standard error, if it is a pipe or a terminal, an opening of its own
// that is not waited for, and returns it. Else a Go program that ends by a panic would
// hang, deaf to all signals, while nobody reads the pipe: the runtime writes its last words
// before it exits. Others who have the same pipe keep theirs as it is. Where that cannot
// be done, as with sockets, it is standard error as it was.
func ownStderr() *os.File {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice) == 0 {
		return os.Stderr
	}
	own, err := os.OpenFile("/proc/self/fd/2", os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return os.Stderr
	}
	raw, err := own.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = syscall.Dup3(int(fd), syscall.Stderr, 0) }) // best effort: the log has its own
	}
	if err != nil {
		_ = own.Close()
		return os.Stderr
	}
	return own
}
