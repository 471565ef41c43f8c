package model

import (
	"fmt"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
	"edgeproxy/internal/lab/trace"
)

// The expected false positive rate is read often enough to see a generation fill up in readingsPerGeneration steps, and at most
// once in expectEvery unseen keys: a reading costs as much as some hundred requests.
const (
	expectEvery           = 256
	readingsPerGeneration = 32
)

// slidingFilter is the common interface of both production filters.
type slidingFilter interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	SetLimit(keys int64)
	Keys() int64
	Stats(now time.Time) bloom.Stats
	Bytes() int64
}

// filter is a production filter that counts its errors.
type filter struct {
	objects []trace.Object
	record  func(hi, lo uint64) (times int)
	holds   func(hi, lo uint64) bool // record without recording
	sliding slidingFilter
	every   int64 // unseen keys that share one reading
	mistakes
}

// mistakes counts what a filter gets wrong.
type mistakes struct {
	unseen, falsePositives int64
	falseNegatives         int64
	expected               float64
	readings               int64
}

func (m *mistakes) add(o *mistakes) {
	m.unseen += o.unseen
	m.falsePositives += o.falsePositives
	m.falseNegatives += o.falseNegatives
	m.expected += o.expected
	m.readings += o.readings
}

func (m *mistakes) report(out *Result) {
	out.FalseNegatives = m.falseNegatives
	if m.unseen == 0 {
		return
	}
	measured := ratio(m.falsePositives, m.unseen)
	expected := m.expected / float64(m.readings)
	out.FalsePositiveRatio, out.ExpectedFalsePositiveRatio = &measured, &expected
}

func newFilter(s Setting, objects []trace.Object) (*filter, error) {
	o := s.filter(len(objects))
	f := &filter{objects: objects, every: max(expectEvery, o.Capacity/readingsPerGeneration)}
	if s.Policy.Memory() == policy.Counted {
		c, err := counting.New(o, time.Time{})
		if err != nil {
			return nil, fmt.Errorf("build the counting filter: %w", err)
		}
		f.sliding, f.record = c, c.Add
		f.holds = func(hi, lo uint64) bool { return c.Estimate(hi, lo) > 0 }
		return f, nil
	}
	h, err := sliding.New(o, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("build the second-hit filter: %w", err)
	}
	f.sliding, f.holds = h, h.Has
	f.record = func(hi, lo uint64) int {
		if h.Seen(hi, lo) {
			return 2
		}
		return 1
	}
	return f, nil
}

// see counts a sighting and returns how many the filter has, this one included. Known says whether there really was an earlier
// one.
func (f *filter) see(i uint32, known bool) (times int) {
	if !known {
		if f.unseen%f.every == 0 {
			f.expected += f.sliding.Stats(time.Time{}).FalsePositiveRatio
			f.readings++
		}
		f.unseen++
	}
	o := &f.objects[i]
	times = f.record(o.Hi, o.Lo)
	switch {
	case !known && times > 1:
		f.falsePositives++
	case known && times < 2:
		f.falseNegatives++
	}
	return times
}

// look prefetches the filter's blocks for these requests.
func (f *filter) look(requests []trace.Access) (read uint32) {
	for _, a := range requests {
		if o := &f.objects[a.Object]; f.holds(o.Hi, o.Lo) {
			read++
		}
	}
	return read
}

func (f *filter) rotate(now time.Time, cause bloom.Cause) { f.sliding.Rotate(now, cause) }

func (f *filter) report(out *Result) {
	out.FilterBytes = f.sliding.Bytes()
	f.mistakes.report(out)
}
