package process

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPUTime returns the CPU time that the threads of the process have used so far,
// in user and in system mode, to the nanosecond: the sum over
// /proc/PID/task/*/schedstat, whose first number is the time on a processor.
// /proc/PID/stat counts in ticks of 10 ms, too coarse for short rounds. A thread
// that ends takes its time with it; Go keeps its threads.
func CPUTime(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("read the CPU time of process %d: no /proc/PID/task/*/schedstat (Linux only): %w", pid, os.ErrNotExist)
	}
	var sum time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time: %w", err)
		}
		used, err := parseSchedstat(string(text))
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// parseSchedstat returns the time on a processor, the first of three numbers.
func parseSchedstat(text string) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return 0, fmt.Errorf("read the CPU time: %.100q has not three fields", text)
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	return time.Duration(ns), nil
}

// Children returns the processes that a process has started and that are still there.
func Children(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is a good one
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread that has ended has none
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// TreeTime returns CPUTime of a process and of all below it.
func TreeTime(pid int) (time.Duration, error) {
	sum, err := CPUTime(pid)
	if err != nil {
		return 0, err
	}
	for _, child := range Children(pid) {
		if used, err := TreeTime(child); err == nil { // else it has just gone
			sum += used
		}
	}
	return sum, nil
}

// Resident returns the resident memory of a process in bytes, 0 if it is not there.
func Resident(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// TimeOfSelf returns the CPU time of this process on all processors, in user and in system mode. Other programs do not add to it.
func TimeOfSelf() (user, system time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0 // there is no such system
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// WrittenBySelf returns what this process has had written to devices so far, in bytes.
func WrittenBySelf() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	number, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseInt(number, 10, 64)
}

// blockBytes is the unit of rusage's count of output on Linux.
const blockBytes = 512

// Written returns how many bytes the process and the children that it waited for wrote to block devices. It is known after Close, on
// Linux.
func (p *Process) Written() (bytes int64, ok bool) {
	if p.cmd.ProcessState == nil || runtime.GOOS != "linux" {
		return 0, false
	}
	u, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return u.Oublock * blockBytes, true
}
