//go:build soak

package faults

// atOnce is how many tests run at a time: nothing else runs while times are compared.
const atOnce = 1

// The floods of make soak-floods.
const (
	floodConnections = 2000
	floodHits        = 5000
	floodTime        = "60s"
	compareP99       = true
)
