package simulate

import (
	"math"

	"edgeproxy/internal/lab/trace"
)

// census counts the distinct keys of each period of a rotation by time or by
// requests. The proxy's filter needs a number of keys, so a recommendation of such
// a rotation needs this count.
type census struct {
	rule Rotation

	period   uint32   // the current one, from 1
	last     []uint32 // for each object the period of its last request; 0 is none. The caller makes and drops it
	started  int64    // when the current period began, Unix nanoseconds
	requests int64    // requests of the current period
	keys     int64    // keys of the current period

	whole int64 // periods that have ended
	sum   int64 // keys of these periods together
	peak  int64 // the most keys of one period, the current one included
}

// replay counts the requests.
func (c *census) replay(requests []trace.Access) {
	for _, a := range requests {
		if c.period == 0 {
			c.period, c.started = 1, a.At
		}
		c.advance(a.At)
		c.requests++
		if c.last[a.Object] != c.period {
			c.last[a.Object] = c.period
			c.keys++
			c.peak = max(c.peak, c.keys)
		}
	}
}

// advance begins the next period if a request at this time belongs to it. Periods
// without a request do not count: they would only lower the mean.
func (c *census) advance(at int64) {
	if c.rule.Unit == ByRequests && c.requests < c.rule.Count {
		return
	}
	if c.rule.Unit == ByTime {
		periods := (at - c.started) / int64(c.rule.Every)
		if periods < 1 {
			return
		}
		c.started += periods * int64(c.rule.Every)
	}
	c.whole++
	c.sum += c.keys
	if c.period == math.MaxUint32 { // the next period is 1 again, which c.last must not have
		clear(c.last)
		c.period = 0
	}
	c.period++
	c.requests, c.keys = 0, 0
}

// mean returns the mean number of keys of the periods that have ended, or the keys
// of the first period if none has.
func (c *census) mean() int64 {
	if c.whole == 0 {
		return c.peak
	}
	return (c.sum + c.whole/2) / c.whole
}

// censusBytes is what a census takes for each object.
const censusBytes = 4

// peakWithHeadroom returns a capacity a tenth above the busiest period, so that a rotation by
// time is not by fill.
func (c *census) peakWithHeadroom() int64 { return withHeadroom(c.peak) }

// withHeadroom returns a capacity a tenth above keys, in the range of a filter.
func withHeadroom(keys int64) int64 { return min(max(keys+keys/10+1, minPeriod), maxPeriod) }
