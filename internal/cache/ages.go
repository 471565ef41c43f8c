package cache

import (
	"sync/atomic"
	"time"
)

const (
	// ageEvery is the sampling rate: the age of one eviction in so many is noted, and of the first. To note one takes 150 ns, most of it
	// to read the clock, and a stored miss evicts one entry on average.
	ageEvery = 8
	// ageOver is how many of these the mean of ages is over, roughly: the newest counts one part in so many.
	ageOver = 64
)

// ages is a moving mean of the ages of entries at their eviction. Evictions that the writer and ristretto's worker note
// at the same moment may count as one.
type ages struct {
	mean  atomic.Int64 // in nanoseconds
	count atomic.Int64
}

func (a *ages) note(age time.Duration) {
	n := min(a.count.Add(1), ageOver)
	mean := a.mean.Load()
	a.mean.Store(mean + (int64(max(age, 0))-mean)/n)
}

// evictedAt notes the age of it, which is evicted at now. An entry without a response time is left out.
func (l *ledger) evictedAt(why departure, it *Object, now time.Time) {
	if at := it.ResponseTime(); !at.IsZero() {
		l.ages[why].note(now.Sub(at))
	}
}
