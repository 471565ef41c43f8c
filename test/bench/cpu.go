package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: 1/USER_HZ, which is 100 on every system
// that Go runs on.
const tick = 10 * time.Millisecond

// Places of utime and stime in /proc/PID/stat behind the program's name, which
// may hold anything and ends at the last parenthesis (proc_pid_stat(5)).
const (
	userField   = 11
	systemField = 12
)

// cpuTime returns the CPU time that all threads of the process have used so far,
// in user and in system mode, to the tick.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time (Linux only): %w", err)
	}
	return parseStat(string(text))
}

func parseStat(text string) (time.Duration, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= systemField {
		return 0, fmt.Errorf("read the CPU time: %.100q has too few fields", text)
	}
	var ticks int64
	for _, at := range []int{userField, systemField} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
