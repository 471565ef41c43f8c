package admission

import (
	"fmt"
	"sync"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
	"edgeproxy/internal/fit"
	"edgeproxy/internal/reason"
)

// Gate remembers sightings and decides by them. It is safe for concurrent use;
// a decision does not allocate, and takes no lock but for the 1/256 of the keys
// that are sampled. Close ends its goroutines.
type Gate struct {
	secondHit *sliding.Filter  // nil: not configured
	counting  *counting.Filter // nil: not configured

	seen, counted *memory   // what belongs to the two; nil with them
	memories      []*memory // those there are

	fit       *fit.Fit
	openBelow func() bool // nil: never open
	keeper    *keeper     // nil: nothing is kept
	problems  []error
	once      sync.Once
}

// New returns a Gate whose windows begin now, or go on from o.Restore, and
// starts one goroutine for each filter to rotate it. It writes no file before
// StartSaving. now is the clock's time. The error names every option that cannot
// work.
func New(o Options, now time.Time) (*Gate, error) {
	defer o.Restore.Close()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("build the admission gate: %w", err)
	}
	if o.State != nil {
		o.Restore.requireSeed(o.State.Seed)
	}
	g := &Gate{openBelow: o.OpenBelow, fit: o.Restore.fit(o.TierBytes)}
	var err error
	if g.secondHit, g.seen, err = build(secondHitKind(), o.SecondHit, o, g.fit, now); err != nil {
		return nil, err
	}
	if g.counting, g.counted, err = build(countingKind(), o.Counting, o, g.fit, now); err != nil {
		return nil, err
	}
	for _, m := range []*memory{g.seen, g.counted} {
		if m != nil {
			g.memories = append(g.memories, m)
		}
	}
	g.problems = o.Restore.faults()
	for _, m := range g.memories {
		go m.rotator.run(m.began(now))
	}
	if o.State != nil {
		g.keeper = newKeeper(*o.State, g.memories, g.fit, o.Guard)
	}
	return g, nil
}

// Problems returns what of Options.Restore could not be used and why, and what
// is wrong with the file; nil when all is well. It does not change.
func (g *Gate) Problems() []error { return g.problems }

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
// that it is admitted one request later; Rule.Joined makes up for that. While
// the gate is open what would be refused is admitted, but by policy Never.
func (g *Gate) Sight(r Rule, hi, lo uint64) Verdict {
	v := g.decide(r, hi, lo)
	if !v.Admit && r.Policy != Never && g.Open() {
		v.Admit, v.Open, v.Reason = true, true, reason.None
	}
	return v
}

// Knows reports whether a response for the key may be stored by r although the
// request for it is no sighting: whether those before it are enough. It records
// nothing.
func (g *Gate) Knows(r Rule, hi, lo uint64) bool {
	known := false
	switch r.Policy {
	case Always:
		return true
	case SecondHit:
		known = g.secondHit.Has(hi, lo)
	case Counting:
		known = g.counting.Estimate(hi, lo) > r.MoreThan
	default: // Never
		return false
	}
	return known || g.Open()
}

// decide records and says what the rule alone says.
func (g *Gate) decide(r Rule, hi, lo uint64) Verdict {
	switch r.Policy {
	case Always:
		return Verdict{Admit: true}
	case SecondHit:
		before := g.sightedBefore(hi, lo)
		g.seen.fitting.sighted() // now that the filter has it
		if before {
			return Verdict{Admit: true}
		}
		return Verdict{Reason: reason.FirstSighting}
	case Counting:
		v := Verdict{Sightings: g.sightings(hi, lo), Needed: r.MoreThan + 1}
		g.counted.fitting.sighted()
		v.Admit = v.Sightings >= v.Needed
		if !v.Admit {
			v.Reason = reason.TooFewSightings
		}
		return v
	default: // Never
		return Verdict{Reason: reason.AdmissionDenies}
	}
}

// sightedBefore records a sighting for second-hit, in the sample too where the
// key belongs to it.
func (g *Gate) sightedBefore(hi, lo uint64) bool {
	if !mayBeSampled(lo) {
		return g.secondHit.Seen(hi, lo)
	}
	s := g.seen.sample.begin(hi, lo)
	was := g.secondHit.Seen(hi, lo)
	count := 1
	if was {
		count = 2
	}
	g.seen.sample.end(s, hi, lo, count)
	return was
}

// sightings does the same for counting and returns their number.
func (g *Gate) sightings(hi, lo uint64) int {
	if !mayBeSampled(lo) {
		return g.counting.Add(hi, lo)
	}
	s := g.counted.sample.begin(hi, lo)
	count := g.counting.Add(hi, lo)
	g.counted.sample.end(s, hi, lo, count)
	return count
}

// Filled is to be called once for every storable response, when it is certain
// whether admission let it be stored (heldBack false) or not (true), with the
// rule and key of its sighting and the bytes of its body; and once more when it moves
// from a stage into the tier behind the gate. It reports regret: that the fill before
// this one, of the same key and within the rule's window, was held back. Then a cache
// that admits everything would have answered from its memory, if it had not
// evicted the object by then. The bytes tell how many objects the tier holds, which
// the windows are fitted to.
//
// What policies Always and Never hold back is not measured: they have no
// window, and Filled reports false. For the errors of the others see the
// filters in RegretStats: they wrongly report at most one fill in a hundred, and
// overlook as many, while they are not overfull.
func (g *Gate) Filled(r Rule, hi, lo uint64, body int64, heldBack bool) (regret bool) {
	g.note(body, heldBack)
	var m *memory
	switch r.Policy {
	case SecondHit:
		m = g.seen
	case Counting:
		m = g.counted
	default: // without a window
	}
	return m != nil && m.regret.filled(hi, lo, heldBack)
}

// note has the windows follow the sizes of what comes.
func (g *Gate) note(body int64, heldBack bool) {
	objects := int64(0)
	if heldBack {
		objects = g.fit.HeldBack(body)
	} else {
		objects = g.fit.Admitted(body)
	}
	for _, m := range g.memories {
		m.follow(objects, g.fit.Known())
	}
}

// Open reports whether the gate is open now because the cache is nearly empty
// (Options.OpenBelow).
func (g *Gate) Open() bool { return g.openBelow != nil && g.openBelow() }

// StartSaving has the gate save every StateOptions.Every from now on, in a
// goroutine of its own, and a last time when it is closed. Its owner calls it when
// it has begun to serve: one that fails before that, or runs beside another for a
// moment, has seen nothing, and must not put it in place of what was saved.
// Without Options.State, when called again, or after Close it does nothing.
func (g *Gate) StartSaving() {
	if g.keeper != nil {
		g.keeper.start()
	}
}

// Save writes the filters to the file of Options.State, as of now; without it,
// Save does nothing. It waits for a save under way and holds up neither
// sightings nor rotations: what happens meanwhile may or may not be in the file.
func (g *Gate) Save(now time.Time) error {
	if g.keeper == nil {
		return nil
	}
	return g.keeper.save(now)
}

// Close stops the goroutines, waits for what they have begun, callbacks
// included, and saves a last time if StartSaving was called. Sight, Filled and
// Stats still work, on a window that no longer moves. Further calls do nothing.
func (g *Gate) Close() {
	g.once.Do(func() {
		saving := g.keeper != nil && g.keeper.close()
		for _, m := range g.memories {
			m.rotator.close()
		}
		if saving {
			g.keeper.saveOnce(clock())
		}
	})
}
