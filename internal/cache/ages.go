package cache

import (
	"sync/atomic"
	"time"
)

const (
	// ageEvery is which evictions are looked at: the first, and one of so many after it. To look at one takes 150 ns, most of it
	// for the clock, and a stored miss evicts one on average.
	ageEvery = 8
	// ageOver is how many of these the mean of ages is over, roughly: the newest counts one part in so many.
	ageOver = 64
)

// ages is a moving mean of how old entries were when they were evicted. Those that are evicted at the same moment by the
// writer and by ristretto's worker may count as one.
type ages struct {
	mean  atomic.Int64 // in nanoseconds
	count atomic.Int64
}

func (a *ages) note(age time.Duration) {
	n := min(a.count.Add(1), ageOver)
	mean := a.mean.Load()
	a.mean.Store(mean + (int64(max(age, 0))-mean)/n)
}

// evictedAt notes the age of it, which is evicted at now. An entry without a time has none.
func (l *ledger) evictedAt(why departure, it *Object, now time.Time) {
	if at := it.ResponseTime(); !at.IsZero() {
		l.ages[why].note(now.Sub(at))
	}
}
