package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/lab/process"
)

// pinServers has the servers, with these process ids, run on the first processor, and this program, with
// the origin and the clients in it, on the others: a server that the kernel wakes beside a client that
// is busy waits for it. Where there is one processor it does nothing. unpin has this program run
// anywhere again.
func pinServers(servers []int) (unpin func() error, err error) {
	all := processors()
	if len(all) < 2 {
		return func() error { return nil }, nil
	}
	self := os.Getpid()
	unpin = func() error { return pin(self, all) }
	if err := pin(self, all[1:]); err != nil {
		return nil, errors.Join(err, unpin())
	}
	for _, pid := range servers {
		for _, of := range append(process.Children(pid), pid) {
			if err := pin(of, all[:1]); err != nil {
				return nil, errors.Join(err, unpin())
			}
		}
	}
	return unpin, nil
}

// pinThread has this thread run on the last processor, and the others of this program anywhere, or they
// would have none to themselves. unpinThread ends that.
func pinThread() error {
	all := processors()
	if len(all) < 2 {
		return nil
	}
	if err := unpinThread(); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, setOf(all[len(all)-1:])); err != nil {
		return fmt.Errorf("choose the processor of a thread: %w", err)
	}
	return nil
}

func unpinThread() error { return pin(os.Getpid(), processors()) }

// processors are those that this program may run on, as it was started: in a container not the
// machine's first ones.
var processors = sync.OnceValue(func() (all []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range 64 * len(set) {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all
})

func setOf(processors []int) *unix.CPUSet {
	var set unix.CPUSet
	for _, i := range processors {
		set.Set(i)
	}
	return &set
}

// realTimePriority is any above those of programs that are not.
const realTimePriority = 10

// realTime is how a thread runs in real time; first says that it goes before the others of its program.
func realTime(first bool) *unix.SchedAttr {
	a := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: realTimePriority}
	if first {
		a.Priority++
	}
	return a
}

// hasten has all threads of a server and of its children go before all that is not in real time: a client
// that never sleeps would hold them up by its other threads, for milliseconds. Where that is not allowed
// it returns unix.EPERM.
//
// The monitor of a Go program goes before its other threads. It sees that one of them works for long, and hands over what has come
// for others meanwhile. In real time a thread never makes way for one of the same priority, so it would not see that for 0.1 s.
func hasten(server int) error {
	for _, pid := range append(process.Children(server), server) {
		monitor := monitorOf(pid)
		err := eachThread(pid, func(thread int) error { return unix.SchedSetAttr(thread, realTime(thread == monitor), 0) })
		if err != nil {
			return fmt.Errorf("run process %d in real time: %w", pid, err)
		}
	}
	return nil
}

// monitorOf returns the thread of a Go program that its runtime starts before any other: its monitor. It returns 0 for a program that is
// not Go's.
func monitorOf(pid int) (monitor int) {
	if _, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		return 0
	}
	_ = eachThread(pid, func(thread int) error {
		if thread != pid && (monitor == 0 || thread < monitor) {
			monitor = thread
		}
		return nil
	})
	return monitor
}

// relax takes back hasten for one process.
func relax(pid int) {
	_ = eachThread(pid, func(thread int) error {
		return unix.SchedSetAttr(thread, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0)
	})
}

// pin has all threads of a process run on these processors alone, if there are any. Threads that they
// start later do so too.
func pin(pid int, on []int) error {
	if len(on) == 0 {
		return nil
	}
	if err := eachThread(pid, func(thread int) error { return unix.SchedSetaffinity(thread, setOf(on)) }); err != nil {
		return fmt.Errorf("choose the processors of process %d: %w", pid, err)
	}
	return nil
}

// eachThread calls f for each thread of a process that has not ended.
func eachThread(pid int, f func(thread int) error) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return fmt.Errorf("list the threads: %w", err)
	}
	for _, path := range threads {
		thread, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return fmt.Errorf("list the threads: %w", err)
		}
		if err := f(thread); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}
