package admission

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
	"edgeproxy/internal/fit"
	"edgeproxy/internal/policy"
)

// Gate remembers sightings and decides by them. It is safe for concurrent use;
// a decision does not allocate, and takes no lock but for the 1/256 of the keys
// that are sampled. Close ends its goroutines.
type Gate struct {
	secondHit *sliding.Filter  // nil: not configured
	counting  *counting.Filter // nil: not configured

	seen, counted *memory   // what belongs to the two; nil with them
	memories      []*memory // those there are

	numbered atomic.Int64 // sightings under policies that go by their number

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

// memory returns what p remembers by; nil: it remembers nothing, or there is none.
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
// Keys with equal hashes are one key. A false positive of the filter admits a
// key too early. Simultaneous sightings of one key may overlook each other, so
// that it is admitted one request later; Rule.Joined makes up for that. While
// the gate is open what would be refused is admitted, but by policy Never.
func (g *Gate) Sight(r Rule, hi, lo uint64) Verdict {
	s := policy.Sighting{}
	if r.Policy.Remembers() {
		f := g.memory(r.Policy).fitting
		number := f.counted() // before the filter has it: if that is full by it, the rotation finds it counted
		s.Times = g.record(r.Policy, hi, lo)
		f.sighted(number) // now that the filter has it
	}
	if r.Policy.Numbered() {
		s.Number = g.numbered.Add(1)
	}
	return g.decide(r, s)
}

// SightAlso is Sight for a request that Sight has counted already, with verdict v, by
// another key: what it asked for turned out to have the key with the hash (hi, lo). It
// records that key as well and decides by it. The request stays one sighting: a window
// that is counted in requests does not move, and its number stays.
func (g *Gate) SightAlso(r Rule, v Verdict, hi, lo uint64) Verdict {
	return g.decide(r, policy.Sighting{Times: g.record(r.Policy, hi, lo), Number: v.Number})
}

// Knows reports whether a response for the key may be stored by r although the
// request for it is no sighting: whether those before it are enough. It records
// nothing.
func (g *Gate) Knows(r Rule, hi, lo uint64) bool {
	s := policy.Sighting{Number: g.numbered.Load()}
	switch r.Policy.Memory() { // the sighting that it is not would be one more
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

// Foresee returns what Sight would say of a next sighting of the key, and how many sightings of it the window has now: for a
// filter that only knows whether, 0 or 1, and 0 for a policy that remembers none. It records nothing.
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

// decide says what the rule makes of a sighting, and an open gate of that.
func (g *Gate) decide(r Rule, s policy.Sighting) Verdict {
	v := r.Decide(s)
	if !v.Admit && !r.Policy.Closed() && g.Open() {
		return r.Opened(v)
	}
	return v
}

// record records a sighting and returns how many the window has of the key, this one
// included; 0 where the policy remembers none.
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

// add is record in the filter alone.
func (g *Gate) add(p Policy, hi, lo uint64) (times int) {
	if p.Memory() == policy.Counted {
		return g.counting.Add(hi, lo)
	}
	if g.secondHit.Seen(hi, lo) {
		return 2
	}
	return 1
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
// Policies that remember nothing have no window, so their regret is not measured, and
// Filled reports false. For the errors of the others see the
// filters in RegretStats: they wrongly report at most one fill in a hundred, and
// overlook as many, while they are not overfull.
func (g *Gate) Filled(r Rule, hi, lo uint64, body int64, heldBack bool) (regret bool) {
	g.note(body, heldBack)
	m := g.memory(r.Policy)
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
