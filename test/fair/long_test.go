//go:build linux && soak

package fair

import "time"

// comparing is set where times are compared and nothing else runs meanwhile.
const comparing = true

// How long the honest client is alone, and beside the attack on the control.
const (
	beforeTime  = 2 * time.Second
	controlTime = 6 * time.Second
)

// leastP99 is what a p99 on the loopback is taken for at least: below it the timers of
// the machine are what is compared.
const leastP99 = time.Millisecond

// What the honest client asks for. A p99 needs many.
const (
	hitsPerSecond   = 200
	missesPerSecond = 40
)
