//go:build !soak

package faults

// atOnce is how many tests run at a time: most of what they do is to wait until the
// program has let go of what it keeps for a while.
const atOnce = 16

// The floods of a usual run are small, and times are not compared: a machine that does
// something else beside the tests has no steady p99.
const (
	floodConnections = 400
	floodHits        = 200
	floodTime        = "20s"
	compareP99       = false
)
