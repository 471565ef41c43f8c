package cache

import (
	"math"
	"sync/atomic"
	"time"
)

// An Object has no pointer, so it stores its response time as one number: the time since the epoch. The time comes back
// with a reading of the monotonic clock, so that a step of the wall clock makes nothing older or younger.

// epoch is the first ResponseTime that was set in this process.
var epoch atomic.Pointer[time.Time]

const (
	// neverReceived stands for the zero time.
	neverReceived = math.MinInt64
	// mostApart is how far wall clock and monotonic clock may differ when they are read one after the other.
	mostApart = int64(100 * time.Millisecond)
)

// setResponseTime sets the response time of o, which is new. T is zero, or lies between the years 1678 and 2262. If the
// wall clock has stepped since the epoch, o stores the wall clock's time.
func (o *Object) setResponseTime(t time.Time) {
	if t.IsZero() {
		o.form |= formWall
		o.received = neverReceived
		return
	}
	first := epoch.Load()
	if first == nil {
		first = beginEpoch(t)
	}
	since := t.Sub(*first)
	if stepped := t.UnixNano() - first.Add(since).UnixNano(); stepped > mostApart || stepped < -mostApart {
		o.form |= formWall
		o.received = t.UnixNano()
		return
	}
	o.received = int64(since)
}

// ResponseTime returns when the response was received or last validated.
func (o *Object) ResponseTime() time.Time {
	switch {
	case o.form&formWall == 0:
		return epoch.Load().Add(time.Duration(o.received))
	case o.received == neverReceived:
		return time.Time{}
	}
	return time.Unix(0, o.received)
}

// beginEpoch makes t the epoch unless there is one. It returns the epoch.
func beginEpoch(t time.Time) *time.Time {
	epoch.CompareAndSwap(nil, &t)
	return epoch.Load()
}
