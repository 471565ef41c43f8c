package simulate

import (
	"math"

	"edgeproxy/internal/trace"
)

// census counts the distinct keys of each period of a rotation by time or by
// requests. What the proxy is given is the number of keys that its filter holds,
// so such a rule is only complete with that number.
type census struct {
	rule Rotation

	period   uint32   // the current one, from 1
	last     []uint32 // by object: the period it was last asked for in; 0 is none. The owner's
	started  int64    // when the current period began, Unix nanoseconds
	requests int64    // of the current period
	keys     int64    // of the current period

	whole int64 // periods that have ended
	sum   int64 // of their keys
	peak  int64 // the most keys of one period, the current one included
}

// replay counts the requests.
func (c *census) replay(requests []trace.Access) {
	for _, a := range requests {
		if c.period == 0 {
			c.period, c.started = 1, a.At
		}
		c.pass(a.At)
		c.requests++
		if c.last[a.Object] != c.period {
			c.last[a.Object] = c.period
			c.keys++
			c.peak = max(c.peak, c.keys)
		}
	}
}

// pass begins the next period if a request at this time belongs to it. Periods
// without a request are left out: they would only lower the mean.
func (c *census) pass(at int64) {
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
	if c.period == math.MaxUint32 { // or every object would have been there
		clear(c.last)
		c.period = 0
	}
	c.period++
	c.requests, c.keys = 0, 0
}

// mean returns the mean number of keys of the periods that have ended, or those
// of the first where none has.
func (c *census) mean() int64 {
	if c.whole == 0 {
		return c.peak
	}
	return (c.sum + c.whole/2) / c.whole
}

// censusBytes is what a census takes for each object.
const censusBytes = 4

// roomy returns a capacity that the busiest period does not fill: a tenth above
// it, for a rule by time is meant to rotate by time.
func (c *census) roomy() int64 { return roomy(c.peak) }

// roomy returns a capacity, a tenth above so many keys.
func roomy(keys int64) int64 { return min(max(keys+keys/10+1, minPeriod), maxPeriod) }
