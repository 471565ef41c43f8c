package main

import (
	"os"
	"syscall"
)

// ownStderr reopens standard error in non-blocking mode, if it is a pipe or a terminal, and
// returns the new file. Otherwise a panic could hang the process, deaf to all signals: the
// runtime writes its message before it exits, and nobody may be reading the pipe. The new
// open file description leaves other processes with the same pipe unaffected. If standard
// error cannot be reopened, as with sockets, ownStderr returns it unchanged.
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
		err = raw.Control(func(fd uintptr) { _ = syscall.Dup3(int(fd), syscall.Stderr, 0) }) // best effort: the log uses own
	}
	if err != nil {
		_ = own.Close()
		return os.Stderr
	}
	return own
}
