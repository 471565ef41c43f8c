package disk

import (
	"sync/atomic"
	"time"
)

// TimeBounds are the upper bounds of the classes of Times, from 50 µs to 10 s.
var TimeBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 10 * time.Second,
}

// Times is a histogram of how long calls of the device took.
type Times struct {
	// Counts is how many calls took at most the bound of the same index in TimeBounds and more than the one before; the last is how many took
	// longer than all.
	Counts [len(TimeBounds) + 1]int64
	// Sum is the total time of all calls.
	Sum time.Duration
}

// Count returns the number of calls.
func (t *Times) Count() (n int64) {
	for _, c := range t.Counts {
		n += c
	}
	return n
}

// timing collects Times. It is safe for concurrent use.
type timing struct {
	counts [len(TimeBounds) + 1]atomic.Int64
	nanos  atomic.Int64
}

func (t *timing) note(took time.Duration) {
	i := 0
	for i < len(TimeBounds) && took > TimeBounds[i] {
		i++
	}
	t.counts[i].Add(1)
	t.nanos.Add(int64(took))
}

func (t *timing) load() (out Times) {
	for i := range t.counts {
		out.Counts[i] = t.counts[i].Load()
	}
	out.Sum = time.Duration(t.nanos.Load())
	return out
}
