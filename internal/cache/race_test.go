//go:build race

package cache

// raceEnabled says that the race detector is on, which changes allocations.
const raceEnabled = true
