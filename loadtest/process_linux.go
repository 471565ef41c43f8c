package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

// processAttributes puts a child into a group of its own, so that a Ctrl-C meant
// for the driver does not reach it first, and ties its life to the driver's: it
// gets the signal death when the driver dies.
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

// timerSlack is what a sleeping Go program may oversleep by: its poller waits in
// whole milliseconds.
const timerSlack = 1100 * time.Microsecond

// pause waits for d or for the end of ctx, whichever is first. The last
// millisecond is a system call, exact to about 0.1 ms: a timer would charge its
// own lateness to the proxy.
func pause(ctx context.Context, d time.Duration) {
	if d > timerSlack {
		pauseTimer(ctx, d-timerSlack)
		return // the caller looks at the clock and comes back for the rest
	}
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // interrupted: the caller comes back
}
