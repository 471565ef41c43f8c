package shadow

import (
	"fmt"
	"math"
	"slices"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// sightings is the filters of all policies: one of each kind does for all of that
// kind, as every request is a sighting under each. Its owner holds the lock.
type sightings struct {
	secondHit *sliding.Filter  // nil: no policy needs it
	counting  *counting.Filter // nil: no policy needs it
	windows   []window
}

// times is what the filters say of one key, this sighting included.
type times struct {
	seen  bool // before
	count int
}

// admitted decides by rule.
func (t times) admitted(r admission.Rule) bool {
	switch r.Policy {
	case admission.Always:
		return true
	case admission.SecondHit:
		return t.seen
	case admission.Counting:
		return t.count > r.MoreThan
	default: // Never
		return false
	}
}

// newSightings builds the filters that the policies need, for a slice of
// 1/2^bits of the keys.
func newSightings(o Options, bits int, now time.Time) (sightings, error) {
	var s sightings
	var err error
	if w := o.SecondHit; o.uses(admission.SecondHit) {
		if s.secondHit, err = sliding.New(scaled(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.SecondHitFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.secondHit, w, now))
	}
	if w := o.Counting; o.uses(admission.Counting) {
		if s.counting, err = counting.New(scaled(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.CountingFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.counting, w, now))
	}
	return s, nil
}

// uses reports whether a policy is of this kind.
func (o Options) uses(kind admission.Policy) bool {
	return slices.ContainsFunc(o.Rules, func(r admission.Rule) bool { return r.Policy == kind })
}

// scaled returns the size of the filter for 1/2^bits of the keys.
func scaled(o bloom.Options, bits int) bloom.Options {
	o.Capacity = max(int64(math.Ceil(math.Ldexp(float64(o.Capacity), -bits))), 1)
	return o
}

// count records one sighting in each filter.
func (s *sightings) count(hi, lo uint64, now time.Time) (t times) {
	for i := range s.windows {
		s.windows[i].pass(now)
	}
	if s.secondHit != nil {
		t.seen = s.secondHit.Seen(hi, lo)
	}
	if s.counting != nil {
		t.count = s.counting.Add(hi, lo)
	}
	for i := range s.windows {
		s.windows[i].fill(now)
	}
	return t
}

// bytes returns the memory of the filters.
func (s *sightings) bytes() (n int64) {
	for i := range s.windows {
		n += s.windows[i].filter.Bytes()
	}
	return n
}

// window rotates one filter, as its live one is: by time, or when it is full.
type window struct {
	filter filter
	every  time.Duration // 0: by fill only
	most   int           // generations
	began  time.Time
}

// filter is what a window needs of one.
type filter interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	Bytes() int64
}

func newWindow(f filter, o admission.FilterOptions, now time.Time) window {
	return window{filter: f, every: o.RotateEvery, most: o.Generations, began: now}
}

// pass rotates for the periods that are over. After more of them than there are
// generations all is forgotten.
func (w *window) pass(now time.Time) {
	if w.every == 0 {
		return
	}
	periods := now.Sub(w.began) / w.every
	if periods <= 0 {
		return
	}
	w.began = w.began.Add(periods * w.every)
	for range min(int(periods), w.most) {
		w.filter.Rotate(w.began, bloom.CauseTime)
	}
}

// fill rotates if the filter has become full.
func (w *window) fill(now time.Time) {
	c := w.filter.FullC()
	if len(c) == 0 {
		return
	}
	<-c
	if w.filter.Full() {
		w.filter.Rotate(now, bloom.CauseFull)
		if now.After(w.began) {
			w.began = now
		}
	}
}
