package textbook

import "math"

// OverflowBound returns a bound on the chance that any of m counters, above 0,
// reaches the given value once n distinct keys were added once each with k
// probes:
//
//	m (e n k / (value m))^value
//
// held at 1 (Fan et al. 2000, section V). At the best k, n k / m = ln 2, the
// chance that a counter passes 15 is below 1.37e-15 m: four bits are enough for
// a set. They are not for sightings of popular keys, which is why a counter
// saturates.
func OverflowBound(m uint64, k int, n uint64, value int) float64 {
	load := math.E * float64(n) * float64(k) / (float64(value) * float64(m))
	return min(float64(m)*math.Pow(load, float64(value)), 1)
}
