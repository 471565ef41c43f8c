package admission

import (
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
	"edgeproxy/internal/reason"
)

// Gate remembers sightings and decides by them. It is safe for concurrent use;
// a decision takes no lock and does not allocate. Close ends its goroutines.
type Gate struct {
	secondHit *sliding.Filter  // nil: not configured
	counting  *counting.Filter // nil: not configured
	rotators  []*rotator       // one for each filter configured
}

// New returns a Gate whose windows begin now, and starts one goroutine for each
// filter to rotate it. now is the clock's time. The error names every option
// that cannot work.
func New(o Options, now time.Time) (*Gate, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("build the admission gate: %w", err)
	}
	g := &Gate{}
	var err error
	if s := o.SecondHit; s != nil {
		if g.secondHit, err = sliding.New(s.Options, now); err != nil {
			return nil, fmt.Errorf("build the %s filter: %w", SecondHitFilter, err)
		}
		g.rotators = append(g.rotators, newRotator(SecondHitFilter, g.secondHit, s.RotateEvery, o.OnEarlyRotation))
	}
	if s := o.Counting; s != nil {
		if g.counting, err = counting.New(s.Options, now); err != nil {
			return nil, fmt.Errorf("build the %s filter: %w", CountingFilter, err)
		}
		g.rotators = append(g.rotators, newRotator(CountingFilter, g.counting, s.RotateEvery, o.OnEarlyRotation))
	}
	for _, r := range g.rotators {
		go r.run(now)
	}
	return g, nil
}

// Supports returns nil if Sight may be called with r, else what is wrong: an
// unknown policy, a policy whose filter this Gate was built without, or a
// MoreThan out of range.
func (g *Gate) Supports(r Rule) error {
	switch r.Policy {
	case Always, Never:
		return nil
	case SecondHit:
		if g.secondHit == nil {
			return absent(r.Policy, SecondHitFilter)
		}
		return nil
	case Counting:
		if g.counting == nil {
			return absent(r.Policy, CountingFilter)
		}
		if r.MoreThan < minMoreThan || r.MoreThan > maxMoreThan {
			return &bloom.OptionError{Option: "more_than", Value: r.MoreThan, Want: fmt.Sprintf("%d to %d", minMoreThan, maxMoreThan)}
		}
		return nil
	default:
		return &bloom.OptionError{Option: "policy", Value: uint8(r.Policy), Want: "a known policy"}
	}
}

func absent(p Policy, filter string) error {
	return &bloom.OptionError{Option: "policy", Value: p, Want: "a " + filter + " filter, which this gate was built without"}
}

// Sight records one sighting of the key with the 128-bit hash (hi, lo) in the
// filter of r's policy, if it has one, and decides. r must be one that Supports
// accepts; with a policy whose filter is absent Sight panics.
//
// Keys with equal hashes are one key. A false positive of the filter admits a
// key too early. Simultaneous sightings of one key may overlook each other, so
// that it is admitted one request later; Rule.Joined makes up for that.
func (g *Gate) Sight(r Rule, hi, lo uint64) Verdict {
	switch r.Policy {
	case Always:
		return Verdict{Admit: true}
	case SecondHit:
		if g.secondHit.Seen(hi, lo) {
			return Verdict{Admit: true}
		}
		return Verdict{Reason: reason.FirstSighting}
	case Counting:
		v := Verdict{Sightings: g.counting.Add(hi, lo), Needed: r.MoreThan + 1}
		v.Admit = v.Sightings >= v.Needed
		if !v.Admit {
			v.Reason = reason.TooFewSightings
		}
		return v
	default: // Never
		return Verdict{Reason: reason.AdmissionDenies}
	}
}

// FilterStats is the state of one filter. Everything in it is a gauge but
// Rotations, which only grows.
type FilterStats struct {
	Name string // SecondHitFilter or CountingFilter
	bloom.Stats
}

// Stats returns the state as of now of each filter there is, in the order of
// Options.
func (g *Gate) Stats(now time.Time) []FilterStats {
	out := make([]FilterStats, len(g.rotators))
	for i, r := range g.rotators {
		out[i] = FilterStats{Name: r.name, Stats: r.filter.Stats(now)}
	}
	return out
}

// Bytes returns the memory of all filters; it does not change.
func (g *Gate) Bytes() int64 {
	var n int64
	for _, r := range g.rotators {
		n += r.filter.Bytes()
	}
	return n
}

// Close stops the rotation and waits for its goroutines; a clearing or callback
// under way is finished first. Sight and Stats still work, on a window that no
// longer moves. Further calls do nothing.
func (g *Gate) Close() {
	for _, r := range g.rotators {
		r.close()
	}
}
