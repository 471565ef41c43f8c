//go:build !linux

package main

import "syscall"

// access returns why this process may not use the file at path so, by its real user.
func access(path string, mode uint32) error { return syscall.Access(path, mode) }
