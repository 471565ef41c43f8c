//go:build !linux

package pace

import "syscall"

// Acknowledged: see socket_linux.go.
const Acknowledged = false

func queued(syscall.RawConn) (bytes int64, ok bool) { return 0, false }

func acknowledged(syscall.RawConn) (queue, bool) { return queue{}, false }
