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
	"edgeproxy/internal/fit"
	"edgeproxy/internal/policy"
)

// sightings is the filters of all policies: one of each kind does for all of that
// kind, as every request is a sighting under each. All methods are safe for
// concurrent use.
type sightings struct {
	secondHit *sliding.Filter  // nil: no policy needs it
	counting  *counting.Filter // nil: no policy needs it
	windows   []*window
}

// times is what the filters say of one key, this sighting included: by each memory.
type times [policy.Counted + 1]int

// newSightings builds the filters that the policies need, for a slice of
// 1/2^bits of the keys.
func newSightings(o Options, bits int, now time.Time) (sightings, error) {
	var s sightings
	var err error
	if w := o.SecondHit; o.uses(policy.Seen) {
		f := o.fitting(fit.SecondHit(), w, bits)
		if s.secondHit, err = sliding.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.SecondHitFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.secondHit, w, f, now))
	}
	if w := o.Counting; o.uses(policy.Counted) {
		f := o.fitting(fit.Counting(), w, bits)
		if s.counting, err = counting.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.CountingFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.counting, w, f, now))
	}
	return s, nil
}

// uses reports whether a policy remembers sightings this way.
func (o Options) uses(m policy.Memory) bool {
	return slices.ContainsFunc(o.Rules, func(r admission.Rule) bool { return r.Policy.Memory() == m })
}

// scaled returns the size of the filter for 1/2^bits of the keys.
func scaled(o bloom.Options, bits int) bloom.Options {
	o.Capacity = max(int64(math.Ceil(math.Ldexp(float64(o.Capacity), -bits))), 1)
	return o
}

// count records one sighting in each filter.
func (s *sightings) count(hi, lo uint64) (t times) {
	if s.secondHit != nil {
		if t[policy.Seen] = 1; s.secondHit.Seen(hi, lo) {
			t[policy.Seen] = 2
		}
	}
	if s.counting != nil {
		t[policy.Counted] = s.counting.Add(hi, lo)
	}
	for _, w := range s.windows {
		w.sighted()
	}
	return t
}

// pass rotates the windows whose periods are over.
func (s *sightings) pass(now time.Time) {
	for _, w := range s.windows {
		w.pass(now)
	}
}

// fill rotates the windows that have become full.
func (s *sightings) fill(now time.Time) {
	for _, w := range s.windows {
		w.fill(now)
	}
}

// bytes returns the memory of the filters.
func (s *sightings) bytes() (n int64) {
	for _, w := range s.windows {
		n += w.filter.Bytes()
	}
	return n
}
