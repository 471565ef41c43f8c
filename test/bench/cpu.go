package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuTime returns the CPU time that the threads of the process have used so far,
// in user and in system mode, to the nanosecond: the sum over
// /proc/PID/task/*/schedstat, whose first number is the time on a processor.
// /proc/PID/stat counts in ticks of 10 ms, too coarse for short rounds. The time
// of a thread that has ended is lost; Go keeps its threads.
func cpuTime(pid int) (time.Duration, error) {
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

// children returns the processes that a process has started and that are still there.
func children(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // of a fixed pattern
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
