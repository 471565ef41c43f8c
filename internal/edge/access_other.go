//go:build !linux

package edge

import "syscall"

// faccessat checks by the real user: see access_linux.go.
func faccessat(path string, mode uint32) error { return syscall.Access(path, mode) }
