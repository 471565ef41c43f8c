package shadow

import (
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// window rotates one filter like the live one: by time, or when it is full. The request
// that finds the rotation due rotates, which takes as long as the clearing. The others go
// on meanwhile with the remaining generations. So a window needs no lock, and must not
// be called under one.
type window struct {
	filter      filter
	memory      policy.Memory // kind of the filter
	every       time.Duration // 0: by fill only
	generations int           // generations
	start       time.Time     // start of the first generation

	// rotating is true while a request rotates. Only that request writes began, the start
	// of the newest generation in nanoseconds since start. A request that has read an old
	// value then finds rotating true, or reads began again.
	rotating atomic.Bool
	began    atomic.Int64

	fitting *fitting     // nil: the length is fixed
	seen    atomic.Int64 // sightings in the newest generation; only counted if fitted
	look    atomic.Int64 // the number of sightings at which longEnough counts the keys
}

// filter is the part of a filter that a window uses.
type filter interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	SetLimit(keys int64)
	Keys() int64
	Bytes() int64
}

func newWindow(f filter, m policy.Memory, o admission.FilterOptions, fits *fitting, now time.Time) *window {
	return &window{filter: f, memory: m, every: o.RotateEvery, generations: o.Generations, start: now, fitting: fits}
}

// addSighting counts a sighting.
func (w *window) addSighting() {
	if w.fitting != nil {
		w.seen.Add(1)
	}
}

// longEnough reports whether the newest generation of a fitted window has reached its length.
func (w *window) longEnough() bool {
	if w.fitting == nil {
		return false
	}
	seen, sightings := w.seen.Load(), w.fitting.sightings()
	if seen < max(sightings, w.look.Load()) {
		return false
	}
	more := w.fitting.length.More(sightings, w.filter.Keys())
	w.look.Store(seen + more)
	return more == 0
}

// rotateByTime rotates once for each period that is over, at most once for each generation.
func (w *window) rotateByTime(now time.Time) {
	if w.periodsOver(now) <= 0 || !w.rotating.CompareAndSwap(false, true) {
		return
	}
	defer w.rotating.Store(false)
	periods := w.periodsOver(now) // another request may have rotated since
	if periods <= 0 {
		return
	}
	w.began.Add(int64(periods * w.every))
	began := w.start.Add(time.Duration(w.began.Load()))
	for range min(periods, time.Duration(w.generations)) {
		w.rotate(began, bloom.CauseTime)
	}
}

// periodsOver returns how many periods are over.
func (w *window) periodsOver(now time.Time) time.Duration {
	if w.every == 0 {
		return 0
	}
	return (now.Sub(w.start) - time.Duration(w.began.Load())) / w.every
}

// rotateWhenFull rotates if the filter has become full, or its newest generation is long enough.
func (w *window) rotateWhenFull(now time.Time) {
	if len(w.filter.FullC()) == 0 && !w.longEnough() || !w.rotating.CompareAndSwap(false, true) {
		return
	}
	defer w.rotating.Store(false)
	select {
	case <-w.filter.FullC():
	default: // another request has received it, or there was none
	}
	switch {
	case w.fitting != nil && (w.longEnough() || w.filter.Full()):
		w.rotate(now, bloom.CauseFitted)
	case w.fitting == nil && w.filter.Full():
		w.rotate(now, bloom.CauseFull)
	default:
		return
	}
	w.began.Store(max(w.began.Load(), int64(now.Sub(w.start))))
}

// rotate begins a generation. In a fitted window it has the length that fits the cache now.
func (w *window) rotate(now time.Time, cause bloom.Cause) {
	if w.fitting != nil {
		w.filter.SetLimit(w.fitting.length.Room(w.fitting.sightings()))
		w.seen.Store(0)
		w.look.Store(0)
	}
	w.filter.Rotate(now, cause)
}
