//go:build linux && !soak

package fair

import "time"

// comparing is not set: a machine that does something else beside the tests has no steady
// p99.
const comparing = false

const (
	beforeTime  = time.Second
	controlTime = time.Second
	leastP99    = time.Millisecond
)

const (
	hitsPerSecond   = 50
	missesPerSecond = 20
)
