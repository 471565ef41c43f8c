package supervisor

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// monotonic returns the time by CLOCK_MONOTONIC in microseconds, which tells this reload from
// one before it.
func monotonic() string {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for clocks that are not there
	return strconv.FormatInt(t.Nano()/1000, 10)
}
