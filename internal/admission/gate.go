package admission

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// Gate remembers sightings and decides by them. It is safe for concurrent use. A decision does not allocate, and takes
// a lock only for the 1/256 of the keys that are sampled. Close ends its goroutines.
type Gate struct {
	secondHit *sliding.Filter  // nil: not configured
	counting  *counting.Filter // nil: not configured

	seen, counted *memory   // memories of the two filters; nil if they are nil
	memories      []*memory // the memories that are not nil

	numbered atomic.Int64 // sightings under policies that use their number

	fit       *fit.Fit
	warmingUp func() bool // nil: never open
	keeper    *keeper     // nil: nothing is saved
	problems  []error
	once      sync.Once
}

// New returns a Gate whose windows begin now, or continue from o.Restore, and starts one goroutine for each filter to
// rotate it. It writes no file before StartSaving. Now is the clock's time. The error names every option that cannot
// work.
func New(o Options, now time.Time) (*Gate, error) {
	defer o.Restore.Close()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("build the admission gate: %w", err)
	}
	if o.State != nil {
		o.Restore.requireSeed(o.State.Seed)
	}
	g := &Gate{warmingUp: o.WarmingUp, fit: o.Restore.fit(o.TierBytes, o.Held)}
	var err error
	if g.secondHit, g.seen, err = build(secondHitKind(), o.SecondHit, o, g.fit, now); err != nil {
		return nil, err
	}
	if g.counting, g.counted, err = build(countingKind(o.MoreThan), o.Counting, o, g.fit, now); err != nil {
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

// SetMoreThan is Options.MoreThan from now on. The generation that goes on gets the new length, and no sighting is lost.
func (g *Gate) SetMoreThan(n int) {
	if g.counted != nil {
		g.counted.setLength(fit.Counting(n))
	}
}

// Problems returns which parts of Options.Restore could not be used and why, and what is wrong with the file; nil if
// nothing is. It does not change.
func (g *Gate) Problems() []error { return g.problems }

// Supports returns nil if Sight may be called with r, else what is wrong: an
// unknown policy, a policy whose filter this Gate was built without, or a
// parameter out of range.
func (g *Gate) Supports(r Rule) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Policy.Remembers() && g.memory(r.Policy) == nil {
		name := SecondHitFilter
		if r.Policy.Memory() == policy.Counted {
			name = CountingFilter
		}
		return &bloom.OptionError{Option: "policy", Value: r.Policy, Want: "a " + name + " filter, which this gate was built without"}
	}
	return nil
}

// memory returns the memory of policy p; nil if it remembers nothing, or there is none.
func (g *Gate) memory(p Policy) *memory {
	switch p.Memory() {
	case policy.Seen:
		return g.seen
	case policy.Counted:
		return g.counted
	case policy.NoMemory:
	}
	return nil
}

// Sight records one sighting of the key with the 128-bit hash (hi, lo) in the
// filter of r's policy, if it has one, and decides. r must be one that Supports
// accepts; with a policy whose filter is absent Sight panics.
//
// Keys with equal hashes are one key. A false positive of the filter admits a key too early. Simultaneous sightings of
// one key may miss each other, so that it is admitted one request later; Rule.Joined compensates for that. While the
// gate is open, it admits what it would refuse, except under policy Never.
func (g *Gate) Sight(r Rule, hi, lo uint64) Verdict {
	s := policy.Sighting{}
	if r.Policy.Remembers() {
		f := g.memory(r.Policy).fitting
		number := f.counted() // before the filter has it: if this fills the filter, the rotation finds it counted
		s.Times = g.record(r.Policy, hi, lo)
		f.sighted(number) // after the filter has it
	}
	if r.Policy.Numbered() {
		s.Number = g.numbered.Add(1)
	}
	return g.decide(r, s)
}

// SightAlso is Sight for a request that Sight has already counted, with verdict v, under another key: its response
// turned out to have the key with the hash (hi, lo). It records that key as well and decides by it. The request stays
// one sighting: a window that is counted in requests does not move, and the request keeps its number.
func (g *Gate) SightAlso(r Rule, v Verdict, hi, lo uint64) Verdict {
	return g.decide(r, policy.Sighting{Times: g.record(r.Policy, hi, lo), Number: v.Number})
}

// Knows reports whether r allows a response for the key to be stored although its request is no sighting: whether the
// earlier sightings are enough. It records nothing.
func (g *Gate) Knows(r Rule, hi, lo uint64) bool {
	s := policy.Sighting{Number: g.numbered.Load()}
	switch r.Policy.Memory() { // the request itself is no sighting, so it adds none to a count
	case policy.Seen:
		if s.Times = 1; g.secondHit.Has(hi, lo) {
			s.Times = 2
		}
	case policy.Counted:
		s.Times = g.counting.Estimate(hi, lo)
	case policy.NoMemory:
	}
	return g.decide(r, s).Admit
}

// Foresee returns what Sight would decide on a next sighting of the key, and how many sightings of it the window has
// now: 0 or 1 for a filter without counts, and 0 for a policy that remembers none. It records nothing.
func (g *Gate) Foresee(r Rule, hi, lo uint64) (v Verdict, sightings int) {
	s := policy.Sighting{}
	switch r.Policy.Memory() {
	case policy.Seen:
		if g.secondHit.Has(hi, lo) {
			sightings = 1
		}
		s.Times = sightings + 1
	case policy.Counted:
		sightings = g.counting.Estimate(hi, lo)
		s.Times = sightings + 1
	case policy.NoMemory:
	}
	if r.Policy.Numbered() {
		s.Number = g.numbered.Load() + 1
	}
	return g.decide(r, s), sightings
}

// decide returns the rule's verdict on a sighting, changed to admission if the gate is open.
func (g *Gate) decide(r Rule, s policy.Sighting) Verdict {
	v := r.Decide(s)
	if !v.Admit && !r.Policy.Closed() && g.Open() {
		return r.Opened(v)
	}
	return v
}

// record records a sighting and returns how many the window has of the key, this one included; 0 if the policy
// remembers none.
func (g *Gate) record(p Policy, hi, lo uint64) (times int) {
	switch {
	case !p.Remembers():
		return 0
	case !mayBeSampled(lo):
		return g.add(p, hi, lo)
	}
	m := g.memory(p)
	s := m.sample.begin(hi, lo)
	times = g.add(p, hi, lo)
	m.sample.end(s, hi, lo, times)
	return times
}

// add is record without the sample.
func (g *Gate) add(p Policy, hi, lo uint64) (times int) {
	if p.Memory() == policy.Counted {
		return g.counting.Add(hi, lo)
	}
	if g.secondHit.Seen(hi, lo) {
		return 2
	}
	return 1
}

// Filled records a fill and reports regret. The caller calls it once for every storable response, when it is certain
// whether admission let it be stored (heldBack false) or not (true), with the rule and key of its sighting and the bytes
// of its body; and again when it moves from a stage into the tier behind the gate. Regret says that the fill before this
// one, of the same key and within the rule's window, was held back. Then a cache that admits everything would have had a
// hit, unless it had evicted the object by then. The bytes tell how many objects the tier holds, which the windows are
// fitted to.
//
// Policies that remember nothing have no window, so Filled reports false for them. For the errors of the others see the
// filters in RegretStats: while they are not overfull, they wrongly report at most one fill in a hundred, and miss as
// many.
func (g *Gate) Filled(r Rule, hi, lo uint64, body int64, heldBack bool) (regret bool) {
	g.note(body, heldBack)
	m := g.memory(r.Policy)
	return m != nil && m.regret.filled(hi, lo, heldBack)
}

// note fits the windows to the sizes of the responses.
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
// (Options.WarmingUp).
func (g *Gate) Open() bool { return g.warmingUp != nil && g.warmingUp() }

// StartSaving makes the gate save every StateOptions.Every from now on, in a goroutine of its own, and a last time when
// it is closed. Its owner calls it once it serves: a process that fails before that, or runs beside another for a
// moment, has seen nothing, and must not overwrite the saved state. It does nothing without Options.State, when called
// again, or after Close.
func (g *Gate) StartSaving() {
	if g.keeper != nil {
		g.keeper.start()
	}
}

// Save writes the filters to the file of Options.State, as of now; without it, Save does nothing. It waits for a save
// in progress and blocks neither sightings nor rotations: the file may or may not have those that happen meanwhile.
func (g *Gate) Save(now time.Time) error {
	if g.keeper == nil {
		return nil
	}
	return g.keeper.save(now)
}

// WriteState writes to w what Save writes to a file: the filters as of now, whose keys are hashed under seed. CopyState makes a file of it. It blocks
// neither sightings nor rotations. The error is that of w.
func (g *Gate) WriteState(w io.Writer, seed uint64, now time.Time) error {
	_, err := writeState(w, seed, g.memories, g.fit, now)
	return err
}

// Close stops the goroutines, waits for what they have begun, callbacks included, and saves a last time if StartSaving
// was called. Sight, Filled and Stats still work, on a window that is no longer rotated. Further calls do nothing.
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
