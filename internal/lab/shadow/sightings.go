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

// sightingFilters is the filters of some policies, one for each kind. All methods are safe for concurrent use.
type sightingFilters struct {
	secondHit *sliding.Filter  // nil: no policy needs it
	counting  *counting.Filter // nil: no policy needs it
	windows   []*window
}

// sightingCounts is how often each filter has counted a key, this sighting included.
type sightingCounts [policy.Counted + 1]int

// newSightingFilters builds the filters that rules need, for a slice of
// 1/2^bits of the keys.
func newSightingFilters(o Options, rules []admission.Rule, bits int, now time.Time) (sightingFilters, error) {
	var s sightingFilters
	var err error
	if w := o.SecondHit; uses(rules, policy.Seen) {
		f := o.fitting(fit.SecondHit(), w, bits)
		if s.secondHit, err = sliding.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.SecondHitFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.secondHit, policy.Seen, w, f, now))
	}
	if w := o.Counting; uses(rules, policy.Counted) {
		f := o.fitting(fit.Counting(mostThan(rules)), w, bits)
		if s.counting, err = counting.New(f.size(w.Options, bits), now); err != nil {
			return s, fmt.Errorf("build the %s filter: %w", admission.CountingFilter, err)
		}
		s.windows = append(s.windows, newWindow(s.counting, policy.Counted, w, f, now))
	}
	return s, nil
}

// uses reports whether one of the rules remembers sightings this way.
func uses(rules []admission.Rule, m policy.Memory) bool {
	return slices.ContainsFunc(rules, func(r admission.Rule) bool { return r.Policy.Memory() == m })
}

// mostThan returns the largest MoreThan of the rules that count: they share the filter.
func mostThan(rules []admission.Rule) (most int) {
	for _, r := range rules {
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
	for _, m := range []policy.Memory{policy.Seen, policy.Counted} {
		t[m] = s.record(m, hi, lo)
	}
	return t
}

// record records one sighting in the filter of this kind, and returns how many it has of the key; 0 without such a filter.
func (s *sightingFilters) record(m policy.Memory, hi, lo uint64) (times int) {
	switch {
	case m == policy.Seen && s.secondHit != nil:
		if times = 1; s.secondHit.Seen(hi, lo) {
			times = 2
		}
	case m == policy.Counted && s.counting != nil:
		times = s.counting.Add(hi, lo)
	default:
		return 0
	}
	for _, w := range s.windows {
		if w.memory == m {
			w.addSighting()
		}
	}
	return times
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
