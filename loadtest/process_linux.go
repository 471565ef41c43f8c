package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

// processAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches only the driver. The child gets the signal death when the driver dies.
func processAttributes(death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// kill ends a child and all its children.
func kill(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// blockBytes is the unit of rusage's count of output.
const blockBytes = 512

func writtenBy(s *os.ProcessState) (int64, bool) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return u.Oublock * blockBytes, true
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
