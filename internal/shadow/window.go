package shadow

import (
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
)

// window rotates one filter, as its live one is: by time, or when it is full. The
// request that finds it due does so, which takes it as long as the clearing; all
// others go on meanwhile with the generations that are left. So it needs no lock,
// and is to be called under none.
type window struct {
	filter filter
	every  time.Duration // 0: by fill only
	most   int           // generations
	start  time.Time     // of the first one

	// turning is true while a request rotates. It alone writes began, which is when
	// the newest generation began, as nanoseconds since start. A request that reads the
	// old time meanwhile then finds turning true, or reads the new one.
	turning atomic.Bool
	began   atomic.Int64

	fitting *fitting     // nil: the length is fixed
	seen    atomic.Int64 // sightings in the newest generation, where it is fitted
}

// filter is what a window needs of one.
type filter interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	SetLimit(keys int64)
	Bytes() int64
}

func newWindow(f filter, o admission.FilterOptions, fits *fitting, now time.Time) *window {
	return &window{filter: f, every: o.RotateEvery, most: o.Generations, start: now, fitting: fits}
}

// sighted counts a sighting.
func (w *window) sighted() {
	if w.fitting != nil {
		w.seen.Add(1)
	}
}

// over reports whether the newest generation has had the sightings that fit the cache.
func (w *window) over() bool { return w.fitting != nil && w.seen.Load() >= w.fitting.sightings() }

// pass rotates for the periods that are over. After more of them than there are
// generations all is forgotten.
func (w *window) pass(now time.Time) {
	if w.periods(now) <= 0 || !w.turning.CompareAndSwap(false, true) {
		return
	}
	defer w.turning.Store(false)
	periods := w.periods(now) // another may have rotated since
	if periods <= 0 {
		return
	}
	w.began.Add(int64(periods * w.every))
	began := w.start.Add(time.Duration(w.began.Load()))
	for range min(periods, time.Duration(w.most)) {
		w.rotate(began, bloom.CauseTime)
	}
}

// periods returns how many are over.
func (w *window) periods(now time.Time) time.Duration {
	if w.every == 0 {
		return 0
	}
	return (now.Sub(w.start) - time.Duration(w.began.Load())) / w.every
}

// fill rotates if the filter has become full, or its newest generation is long enough.
func (w *window) fill(now time.Time) {
	if len(w.filter.FullC()) == 0 && !w.over() || !w.turning.CompareAndSwap(false, true) {
		return
	}
	defer w.turning.Store(false)
	select {
	case <-w.filter.FullC():
	default: // another has taken it since, or there was none
	}
	switch {
	case w.fitting != nil && (w.over() || w.filter.Full()):
		w.rotate(now, bloom.CauseFitted)
	case w.fitting == nil && w.filter.Full():
		w.rotate(now, bloom.CauseFull)
	default:
		return
	}
	w.began.Store(max(w.began.Load(), int64(now.Sub(w.start))))
}

// rotate begins a generation, made for what is known of the cache by now.
func (w *window) rotate(now time.Time, cause bloom.Cause) {
	if w.fitting != nil {
		w.filter.SetLimit(w.fitting.length.Room(w.fitting.sightings()))
		w.seen.Store(0)
	}
	w.filter.Rotate(now, cause)
}
