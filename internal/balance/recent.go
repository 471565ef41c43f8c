package balance

import "time"

// slots is how many parts the window of recent requests has: a request is forgotten
// between one window and one slot less after it ended.
const slots = 10

// recent is what came of the requests of the last while that reached the server, and
// which targets those asked for that broke. Its zero value holds nothing.
type recent struct {
	slots   [slots]slot
	broken  []target // of different hashes, at most Ejection.Targets
	current int64    // number of the newest slot, since the Unix epoch
}

// slot counts the requests that ended within one slot's time.
type slot struct{ ended, broken int }

// target is one that broke, and when it did so last.
type target struct {
	hash uint64
	at   time.Time
}

// add notes how a request ended.
func (r *recent) add(e *Ejection, now time.Time, broke bool) {
	r.turn(e, now)
	s := &r.slots[r.current%slots]
	s.ended++
	if broke {
		s.broken++
	}
}

// turn empties the slots whose time is over.
func (r *recent) turn(e *Ejection, now time.Time) {
	at := now.UnixNano() / max(int64(e.Window)/slots, 1)
	if at-r.current >= slots {
		r.slots = [slots]slot{}
		r.current = at
	}
	for ; r.current < at; r.current++ {
		r.slots[(r.current+1)%slots] = slot{}
	}
}

// name notes that a request for the target of this hash broke. The one that broke
// longest ago makes room.
func (r *recent) name(e *Ejection, now time.Time, hash uint64) {
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
		r.broken = append(r.broken, target{hash, now})
		return
	}
	r.broken[oldest] = target{hash, now}
}

// bad reports whether enough requests broke, for enough targets, and they are enough
// of all.
func (r *recent) bad(e *Ejection, now time.Time) bool {
	var sum slot
	for _, s := range r.slots {
		sum.ended, sum.broken = sum.ended+s.ended, sum.broken+s.broken
	}
	if sum.ended < e.Requests || float64(sum.broken) < e.Ratio*float64(sum.ended) {
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

// forget begins anew.
func (r *recent) forget() { *r = recent{current: r.current, broken: r.broken[:0]} }
