package main

import (
	"context"
	"syscall"
	"time"
)

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

// timerSlack is how much a sleeping Go program may oversleep: its poller waits in
// whole milliseconds.
const timerSlack = 1100 * time.Microsecond

// pause waits for d or for the end of ctx, whichever is first. It waits the last
// millisecond in a system call, which is exact to about 0.1 ms. A timer's lateness
// would count as the proxy's latency.
func pause(ctx context.Context, d time.Duration) {
	if d > timerSlack {
		pauseTimer(ctx, d-timerSlack)
		return // the caller checks the clock and calls again for the rest
	}
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // if interrupted, the caller calls again
}
