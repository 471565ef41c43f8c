package shadow

import (
	"fmt"
	"math"
	"slices"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// sightingFilters is the filters of all policies. All policies of a kind share a filter: every
// request is a sighting for each. All methods are safe for concurrent use.
type sightingFilters struct {
	secondHit *sliding.Filter  // nil: no policy needs it
	counting  *counting.Filter // nil: no policy needs it
	windows   []*window
}

// sightingCounts is how often each filter has counted a key, this sighting included.
type sightingCounts [policy.Counted + 1]int

// newSightingFilters builds the filters that the policies need, for a slice of
// 1/2^bits of the keys.
func newSightingFilters(o Options, bits int, now time.Time) (sightingFilters, error) {
	var s sightingFilters
	var err error
	if w := o.SecondHit; o.uses(policy.Seen) {
		f := o.fitting(fit.SecondHit(), w, bits)
		if s.secondHit, err = sliding.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.SecondHitFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.secondHit, w, f, now))
	}
	if w := o.Counting; o.uses(policy.Counted) {
		f := o.fitting(fit.Counting(o.moreThan()), w, bits)
		if s.counting, err = counting.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.CountingFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.counting, w, f, now))
	}
	return s, nil
}

// uses reports whether a policy remembers sightings this way.
func (o Options) uses(m policy.Memory) bool {
	return slices.ContainsFunc(slices.Concat(o.Rules, o.Live), func(r admission.Rule) bool { return r.Policy.Memory() == m })
}

// moreThan returns the largest MoreThan of the policies that count: they share the filter.
func (o Options) moreThan() (most int) {
	for _, r := range slices.Concat(o.Rules, o.Live) {
		most = max(most, r.MoreThan)
	}
	return most
}

// scaledOptions returns o with the capacity for 1/2^bits of the keys.
func scaledOptions(o bloom.Options, bits int) bloom.Options {
	o.Capacity = max(int64(math.Ceil(math.Ldexp(float64(o.Capacity), -bits))), 1)
	return o
}

// count records one sighting in each filter.
func (s *sightingFilters) count(hi, lo uint64) (t sightingCounts) {
	if s.secondHit != nil {
		if t[policy.Seen] = 1; s.secondHit.Seen(hi, lo) {
			t[policy.Seen] = 2
		}
	}
	if s.counting != nil {
		t[policy.Counted] = s.counting.Add(hi, lo)
	}
	for _, w := range s.windows {
		w.addSighting()
	}
	return t
}

// rotateByTime rotates the windows whose period is over.
func (s *sightingFilters) rotateByTime(now time.Time) {
	for _, w := range s.windows {
		w.rotateByTime(now)
	}
}

// rotateWhenFull rotates the windows that have become full.
func (s *sightingFilters) rotateWhenFull(now time.Time) {
	for _, w := range s.windows {
		w.rotateWhenFull(now)
	}
}

// bytes returns the memory of the filters.
func (s *sightingFilters) bytes() (n int64) {
	for _, w := range s.windows {
		n += w.filter.Bytes()
	}
	return n
}
