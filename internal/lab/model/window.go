package model

import (
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/trace"
)

// window remembers sightings and rotates its memory when the setting says so.
type window struct {
	exact  *exact
	filter *filter // nil: only exact decides

	every       int64 // nanoseconds; 0: not by time
	requests    int64 // 0: not by requests
	generations int64
	fitted      *fitted // nil: the length of a generation is fixed

	serial    uint32 // serial of the newest generation
	sighted   uint32 // serial of the generation that has the latest sighting
	began     int64  // when it did, Unix nanoseconds
	seen      int64  // requests in the newest generation
	started   bool
	latest    int64 // time of the latest sighting
	rotations int64
}

func newWindow(s Setting, objects []trace.Object, marks []mark, held fit.Held) (*window, error) {
	w := &window{every: int64(s.RotateEvery), requests: s.RotateRequests, generations: 1}
	if s.rotates() {
		w.generations = int64(s.Generations)
	}
	keys := s.RotateKeys
	if s.Fitted {
		w.fitted = newFitted(s, held)
		w.requests, keys = w.fitted.sightings, w.fitted.keys()
	}
	if s.Exact && s.Policy.Memory() == policy.Counted {
		w.exact = newExactCounts(marks, int(w.generations), keys)
		return w, nil
	}
	w.exact = newExact(marks, int(w.generations), keys)
	if s.Exact {
		return w, nil
	}
	var err error
	w.filter, err = newFilter(s, objects)
	return w, err
}

// see counts one sighting and returns how many the window has of the object, this one included.
func (w *window) see(a trace.Access) (times int) {
	if w.every > 0 {
		w.pass(a.At)
	}
	times = w.exact.see(a.Object)
	if w.filter != nil {
		times = w.filter.see(a.Object, times > 1)
	}
	w.sighted = w.serial
	w.seen++
	w.latest = a.At
	// The sets count the keys for the filter too: the filter counts in stripes and learns a little late that it is full.
	w.rotateIfOver(a.At)
	return times
}

// rotateIfOver ends a generation that is long enough.
func (w *window) rotateIfOver(now int64) {
	if w.exact.full() || w.requests > 0 && w.seen >= w.requests && w.varied() {
		w.rotate(now, bloom.CauseFull)
	}
}

// varied reports whether the newest generation, which is long enough, has keys enough to end. If not, it gets more sightings.
func (w *window) varied() bool {
	if w.fitted == nil {
		return true
	}
	keys := w.exact.keys
	if w.filter != nil {
		keys = w.filter.sliding.Keys()
	}
	more := w.fitted.length.More(w.fitted.sightings, keys)
	w.requests = w.seen + more
	return more == 0
}

// filled counts the size of the latest response, which was stored, or held back.
func (w *window) filled(body int64, heldBack bool) {
	if w.fitted != nil && w.fitted.note(body, heldBack) {
		w.relength()
	}
}

// relength gives the newest generation the length that fits now, and ends it if it is longer.
func (w *window) relength() {
	w.requests, w.exact.capacity = w.fitted.sightings, w.fitted.keys()
	w.rotateIfOver(w.latest)
}

// pass makes the rotations that are due by time. After an idle time of several periods the last of them began a whole number of
// periods after the first, as with a timer that fires for each.
func (w *window) pass(now int64) {
	if !w.started {
		w.began, w.started = now, true
	}
	periods := (now - w.began) / w.every
	if periods <= 0 {
		return
	}
	began := w.began + periods*w.every
	if extra := periods - w.generations; extra > 0 { // the window is empty by then
		w.rotations += extra
		periods = w.generations
	}
	for ; periods > 0; periods-- {
		w.rotate(began, bloom.CauseTime)
	}
}

func (w *window) rotate(now int64, cause bloom.Cause) {
	w.serial++
	w.rotations++
	w.seen, w.began = 0, now
	w.exact.rotate()
	if w.fitted != nil {
		w.fitted.rotate()
		w.requests, w.exact.capacity = w.fitted.sightings, w.fitted.keys()
	}
	if w.filter != nil {
		if w.fitted != nil {
			w.filter.sliding.SetLimit(w.fitted.limit())
		}
		w.filter.rotate(time.Unix(0, now), cause)
	}
}

func (w *window) report(out *Result) {
	out.Rotations = w.rotations
	if w.fitted != nil {
		out.WindowObjects, out.WindowRoom = w.fitted.fit.Objects(), w.fitted.room
	}
	if w.filter != nil {
		w.filter.report(out)
	}
}
