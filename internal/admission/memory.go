package admission

import (
	"fmt"
	"io"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// filter is what a memory needs of a sliding filter of either kind, besides the
// recording of sightings.
type filter interface {
	window
	Stats(now time.Time) bloom.Stats
	Bytes() int64
	Held() (oldest, newest uint64)
	Start() time.Time
	Save(w io.Writer, now time.Time) error
}

// memory is what one policy remembers: the filter of its sightings, the two of
// its regret, and the sample that checks the first. They live in one window:
// rotate moves all of them.
type memory struct {
	name    string
	filter  filter
	regret  regret
	sample  *sample
	rotator *rotator
}

// kind is what differs between the filters.
type kind[F filter] struct {
	name  string
	reach int // how far one generation counts; 0: seen or not
	fresh func(bloom.Options, time.Time) (F, error)
	load  func(io.Reader, bloom.Options, time.Time) (F, error)
}

func secondHitKind() kind[*sliding.Filter] {
	return kind[*sliding.Filter]{SecondHitFilter, 0, sliding.New, sliding.Load}
}

func countingKind() kind[*counting.Filter] {
	return kind[*counting.Filter]{CountingFilter, counting.Max, counting.New, counting.Load}
}

// build returns the filter of kind k and its memory, restored or beginning now;
// two nils without a section. The rotator does not run yet.
func build[F filter](k kind[F], section *FilterOptions, o Options, now time.Time) (f F, m *memory, err error) {
	if section == nil {
		return f, nil, nil
	}
	every := section.RotateEvery
	f, restored, err := revive(k, o.Restore, *section, now)
	if err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", k.name, err)
	}
	m = &memory{name: k.name, filter: f}
	held, stored := regretOptions(section.Options)
	of := secondHitKind()
	of.name = k.name + heldBackSuffix
	if m.regret.held, _, err = revive(of, o.Restore, FilterOptions{held, every}, now); err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", of.name, err)
	}
	of.name = k.name + storedSuffix
	if m.regret.stored, _, err = revive(of, o.Restore, FilterOptions{stored, every}, now); err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", of.name, err)
	}
	m.sample = newSample(f, section.Options, k.reach, restored)
	m.sample.accuracy.turn(f.Stats(now).FalsePositiveRatio)
	m.rotator = newRotator(k.name, m, every, o.OnEarlyRotation, o.Guard)
	m.rotator.due, m.rotator.settle = m.sample.due, m.settle
	return f, m, nil
}

// began returns when the newest generation of the filter began, on now's
// monotonic clock: a start read from a file has none, and would have the period
// change with the clock on the wall.
func (m *memory) began(now time.Time) time.Time { return now.Add(-now.Sub(m.filter.Start())) }

// save writes the filters to w. Rotations go on meanwhile, so each may be of a
// moment of its own, and the order matters. stored comes before held: what is
// forgotten in between is then missing from held, which loses regret, and not
// from stored, which would invent some. The filter comes last: were it saved
// full, and the others after the rotation that follows, the next start would
// rotate those twice.
func (m *memory) save(w *stateWriter, now time.Time) {
	w.section(m.name+storedSuffix, m.regret.stored, now)
	w.section(m.name+heldBackSuffix, m.regret.held, now)
	w.section(m.name, m.filter, now)
}

// Rotate forgets the oldest generation of all filters and begins a new one. Only
// the rotator calls it, so the filters never refuse for being at it already.
func (m *memory) Rotate(now time.Time, cause bloom.Cause) bool {
	m.settle(now)
	if !m.filter.Rotate(now, cause) {
		return false
	}
	m.regret.held.Rotate(now, cause)
	m.regret.stored.Rotate(now, cause)
	m.sample.forget()
	m.sample.accuracy.turn(m.filter.Stats(now).FalsePositiveRatio)
	return true
}

// Full and FullC are those of the filter of sightings.
func (m *memory) Full() bool             { return m.filter.Full() }
func (m *memory) FullC() <-chan struct{} { return m.filter.FullC() }

// settle brings the expected side of the measurement up to now.
func (m *memory) settle(now time.Time) {
	m.sample.settle(m.filter.Stats(now).FalsePositiveRatio)
}

// stats returns the state as of now.
func (m *memory) stats(now time.Time) FilterStats {
	m.settle(now)
	return FilterStats{
		Name: m.name, Stats: m.filter.Stats(now), Measured: m.sample.measured(),
		Regret: RegretStats{HeldBack: m.regret.held.Stats(now), Stored: m.regret.stored.Stats(now)},
	}
}

// bytes returns the memory of filters and sample; it does not change.
func (m *memory) bytes() int64 {
	return m.filter.Bytes() + m.regret.held.Bytes() + m.regret.stored.Bytes() + m.sample.bytes()
}
