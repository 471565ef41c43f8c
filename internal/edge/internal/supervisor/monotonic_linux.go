package supervisor

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// monotonic returns the time of CLOCK_MONOTONIC in microseconds. systemd needs it to tell this
// reload from an earlier one.
func monotonic() string {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails only for clocks that do not exist
	return strconv.FormatInt(t.Nano()/1000, 10)
}
