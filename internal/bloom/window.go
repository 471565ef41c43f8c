package bloom

import "math"

// PeakRate returns the rate of a window of g generations when every one is full
// and by itself reports the share full of unseen keys:
//
//	F = 1 - (1 - f)^g
//
// It is WindowRate for equal generations, and GenerationRate turned round. Each
// generation has to be asked by itself: the OR of their arrays holds the keys of
// all in the space of one and errs far more.
//
// full lies in [0, 1]; without a generation, g = 0, nothing is reported.
func PeakRate(full float64, g int) float64 {
	if g == 0 {
		return 0 // at full = 1 the product below would be no number
	}
	return -math.Expm1(float64(g) * math.Log1p(-full))
}

// CycleRate returns the rate of a window at one moment between two rotations,
// when the newest generation holds newest keys and the other g-1 are full with
// capacity keys each:
//
//	F(x) = 1 - (1 - f(capacity))^(g-1) (1 - f(newest)),  x = newest/capacity
//
// rate is f, the rate of one generation after n distinct keys. It is lowest
// just after a rotation and PeakRate just before one. g is above 0.
func CycleRate(rate func(n uint64) float64, capacity, newest uint64, g int) float64 {
	return WindowRate(PeakRate(rate(capacity), g-1), rate(newest))
}

// cycleSteps is the even number of steps in which MeanRate walks a cycle, and
// smallCycle the capacity up to which it takes every key instead. With MaxProbes
// probes the rate grows by a factor of e within some four steps of the end,
// which leaves Simpson's rule an error below 0.1 %.
const (
	cycleSteps = 256
	smallCycle = 4096
)

// MeanRate returns the mean of CycleRate over a cycle, from the rotation to the
// moment when the newest generation is full, by its keys:
//
//	integral of F(x) dx over x from 0 to 1
//
// That is the mean over time where new keys come evenly, and the rate that the
// unseen keys of a long run meet. Up to 4,096 keys it is the trapezium rule over
// each of them, beyond that Simpson's rule. capacity and g are above 0.
func MeanRate(rate func(n uint64) float64, capacity uint64, g int) float64 {
	older := PeakRate(rate(capacity), g-1)
	return WindowRate(older, meanFill(rate, capacity))
}

// meanFill is the mean of rate over 0..capacity. F is linear in it.
func meanFill(rate func(n uint64) float64, capacity uint64) float64 {
	if capacity <= smallCycle {
		sum := (rate(0) + rate(capacity)) / 2
		for n := uint64(1); n < capacity; n++ {
			sum += rate(n)
		}
		return sum / float64(capacity)
	}
	at := func(step int) float64 {
		return rate(uint64(math.Round(float64(capacity) * float64(step) / cycleSteps)))
	}
	sum := at(0) + at(cycleSteps)
	for step := 1; step < cycleSteps; step++ {
		weight := 2.0
		if step%2 == 1 {
			weight = 4
		}
		sum += weight * at(step)
	}
	return sum / (3 * cycleSteps)
}
