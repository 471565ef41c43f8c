package balance

import "time"

// slots is how many parts the window of recent requests has: a request is forgotten
// between one window and one slot less after it ended.
const slots = 10

// recent counts the results of the requests within the last Ejection.Window that reached the server, and
// has the targets of those that broke. Its zero value is empty.
type recent struct {
	slots   [slots]slot
	broken  []brokenTarget // failures of different hashes, at most Ejection.Targets
	current int64          // number of the newest slot, since the Unix epoch
}

// slot counts the requests that ended within one slot's time.
type slot struct{ ended, brokenRequests int }

// brokenTarget is one that broke, and when it did so last.
type brokenTarget struct {
	hash uint64
	at   time.Time
}

// add notes how a request ended.
func (r *recent) add(e *Ejection, now time.Time, broke bool) {
	r.advance(e, now)
	s := &r.slots[r.current%slots]
	s.ended++
	if broke {
		s.brokenRequests++
	}
}

// advance empties the slots whose time is over.
func (r *recent) advance(e *Ejection, now time.Time) {
	at := now.UnixNano() / max(int64(e.Window)/slots, 1)
	if at-r.current >= slots {
		r.slots = [slots]slot{}
		r.current = at
	}
	for ; r.current < at; r.current++ {
		r.slots[(r.current+1)%slots] = slot{}
	}
}

// noteTarget notes that a request for the target of this hash broke. If the list is full, it replaces the
// target that broke longest ago.
func (r *recent) noteTarget(e *Ejection, now time.Time, hash uint64) {
	oldest := -1
	for i := range r.broken {
		if r.broken[i].hash == hash {
			r.broken[i].at = now
			return
		}
		if oldest < 0 || r.broken[i].at.Before(r.broken[oldest].at) {
			oldest = i
		}
	}
	if len(r.broken) < e.Targets {
		r.broken = append(r.broken, brokenTarget{hash, now})
		return
	}
	r.broken[oldest] = brokenTarget{hash, now}
}

// shouldEject reports whether there were enough requests, a large enough share of them broke, and for enough
// targets.
func (r *recent) shouldEject(e *Ejection, now time.Time) bool {
	var sum slot
	for _, s := range r.slots {
		sum.ended, sum.brokenRequests = sum.ended+s.ended, sum.brokenRequests+s.brokenRequests
	}
	if sum.ended < e.Requests || float64(sum.brokenRequests) < e.Ratio*float64(sum.ended) {
		return false
	}
	targets := 0
	for _, t := range r.broken {
		if now.Sub(t.at) < e.Window {
			targets++
		}
	}
	return targets >= e.Targets
}

// reset drops all counts and targets.
func (r *recent) reset() { *r = recent{current: r.current, broken: r.broken[:0]} }
