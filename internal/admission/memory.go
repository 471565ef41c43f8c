package admission

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// filter is the interface of both kinds of sliding filter, without the recording of sightings.
type filter interface {
	window
	saver
	Stats(now time.Time) bloom.Stats
	Bytes() int64
	Held() (oldest, newest uint64)
	Start() time.Time
	Limit() int64
	SetLimit(keys int64)
	Keys() int64
}

// memory is what one policy remembers: the filter of its sightings, the two of its regret, and the sample that checks
// the first. They have one window: rotate moves all of them.
type memory struct {
	name    string
	filter  filter
	regret  regret
	sample  *sample
	rotator *rotator
	fitting *fitting      // nil: the length of a generation is fixed
	longest time.Duration // longest time that the window covers; 0 if no time ends a generation
}

// kind has the differences between the filters.
type kind[F filter] struct {
	name   string
	reach  int // how far one generation counts; 0: it does not count
	length fit.Length
	layout bloom.Layout
	fresh  func(bloom.Options, time.Time) (F, error)
	load   func(io.Reader, bloom.Options, time.Time) (F, error)
}

func secondHitKind() kind[*sliding.Filter] {
	return kind[*sliding.Filter]{SecondHitFilter, 0, fit.SecondHit(), bloom.SplitBlock, sliding.New, sliding.Load}
}

// countingKind is for rules of which the one that counts furthest has this MoreThan.
func countingKind(moreThan int) kind[*counting.Filter] {
	return kind[*counting.Filter]{CountingFilter, counting.Max, fit.Counting(moreThan), bloom.CountingLine, counting.New, counting.Load}
}

// build returns the filter of kind k and its memory, restored or beginning now;
// two nils without a section. The rotator does not run yet.
func build[F filter](k kind[F], section *FilterOptions, o Options, fits *fit.Fit, now time.Time) (f F, m *memory, err error) {
	if section == nil {
		return f, nil, nil
	}
	size := sized(k.length, *section, fits)
	f, restored, err := revive(k, o.Restore, size, now)
	if err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", k.name, err)
	}
	m = &memory{name: k.name, filter: f, longest: time.Duration(size.Generations) * size.RotateEvery}
	held, stored := size, size
	held.Options, stored.Options = regretOptions(size.Options)
	of := secondHitKind()
	of.name = k.name + heldBackSuffix
	if m.regret.held, _, err = revive(of, o.Restore, held, now); err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", of.name, err)
	}
	of.name = k.name + storedSuffix
	if m.regret.stored, _, err = revive(of, o.Restore, stored, now); err != nil {
		return f, nil, fmt.Errorf("build the %s filter: %w", of.name, err)
	}
	m.sample = newSample(f, size.Options, k.reach, restored)
	m.sample.accuracy.beginPeriod(f.Stats(now).FalsePositiveRatio)
	m.rotator = newRotator(k.name, m, size.RotateEvery, o.OnEarlyRotation, o.Guard)
	m.rotator.due, m.rotator.settle = m.sample.due, m.settle
	if size.Fitted {
		m.fit(newFitting(k.length, o, size.Options, k.layout), fits, o.Restore.sightings(k.name, f.Start()))
	}
	return f, m, nil
}

// began returns when the newest generation of the filter began, on now's monotonic clock. A start read from a file has
// no monotonic reading, and would move the period with the wall clock.
func (m *memory) began(now time.Time) time.Time { return now.Add(-now.Sub(m.filter.Start())) }

// save writes the filters to w. Rotations go on meanwhile, so each may be of another moment, and the order matters.
// Stored comes before held: a key forgotten in between is then missing from held, which loses regret, and not from
// stored, which would invent some. The filter comes last: if it was saved full, and the others after the rotation that
// follows, the next start would rotate those twice.
func (m *memory) save(w *stateWriter, now time.Time) {
	w.section(m.name+storedSuffix, m.regret.stored, now)
	w.section(m.name+heldBackSuffix, m.regret.held, now)
	w.section(m.name, m.filter, now)
	if m.fitting != nil { // after a rotation meanwhile, those of the next generation
		w.bytes(m.name+sightingsSuffix, binary.LittleEndian.AppendUint64(nil, uint64(m.fitting.seen())))
	}
}

// Rotate drops the oldest generation of all filters and begins a new one. Only the rotator calls it, so the filters
// never refuse because of another rotation.
func (m *memory) Rotate(now time.Time, cause bloom.Cause) bool {
	m.settle(now)
	m.fitting.beginGeneration() // first: sightings from now on count in the next generation
	if !m.filter.Rotate(now, cause) {
		return false
	}
	m.regret.held.Rotate(now, cause)
	m.regret.stored.Rotate(now, cause)
	m.sample.forget()
	m.sample.pace(m.filter.Limit())
	m.sample.accuracy.beginPeriod(m.filter.Stats(now).FalsePositiveRatio)
	return true
}

// Full reports whether the filter is full, or its newest generation has had the sightings that suit the cache. FullC is
// the filter's.
func (m *memory) Full() bool             { return m.filter.Full() || m.fitting.over() }
func (m *memory) FullC() <-chan struct{} { return m.filter.FullC() }

// settle brings the expected side of the measurement up to now.
func (m *memory) settle(now time.Time) {
	m.sample.settle(m.filter.Stats(now).FalsePositiveRatio)
}

// stats returns the state as of now.
func (m *memory) stats(now time.Time) FilterStats {
	m.settle(now)
	return FilterStats{
		Name: m.name, Stats: m.filter.Stats(now), Measured: m.sample.measured(), Objects: m.fitting.objectsNow(), Longest: m.longest,
		Regret: RegretStats{HeldBack: m.regret.held.Stats(now), Stored: m.regret.stored.Stats(now)},
	}
}

// bytes returns the memory of filters and sample.
func (m *memory) bytes() int64 {
	return m.filter.Bytes() + m.regret.held.Bytes() + m.regret.stored.Bytes() + m.sample.bytes()
}
