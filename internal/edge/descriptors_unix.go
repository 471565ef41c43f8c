//go:build unix

package edge

import (
	"math"

	"golang.org/x/sys/unix"
)

// descriptorLimit returns how many descriptors the process may have. Go has raised the soft limit to the hard one.
func descriptorLimit() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt
	}
	return int(min(uint64(limit.Cur), math.MaxInt)) //nolint:gosec,unconvert // it fits, and the type is signed on some systems
}
