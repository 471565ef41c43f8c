package main

import "syscall"

const (
	sharedMemory = "/dev/shm"
	tmpfsMagic   = 0x01021994 // statfs(2)
	memorySpare  = 2          // this many times the needed bytes have to be free
)

// memoryFolder returns a folder in memory (tmpfs) with room for need bytes, or ""
// if there is none.
func memoryFolder(need int64) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &s); err != nil || s.Type != tmpfsMagic {
		return ""
	}
	if free := float64(s.Bavail) * float64(s.Bsize); free < memorySpare*float64(need) {
		return ""
	}
	return sharedMemory
}
