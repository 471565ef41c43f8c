package admission

import "sync"

// horizon is how many periods between rotations, the present one included, Measured.Ratio covers. With generations of a
// million keys they have some hundred false positives, enough to tell 0.6 % from 0.8 %.
const horizon = 16

// accuracy sums up, period by period, what the sample found and what was expected of the same sightings.
type accuracy struct {
	mu            sync.Mutex
	rate          float64 // expected false positive rate at the last settle
	unseen, wrong int64   // totals at the last settle
	periods       [horizon]period
	now           int // the present period
}

// period is what happened between two rotations.
type period struct {
	unseen, wrong int64
	expected      float64 // sum of the expected rates over the unseen
}

// settle accounts for all sightings since the last settle, given the totals. Each was expected to be wrong at a rate
// between that of then and the one now, on average the mean: in between the filter has filled evenly.
func (a *accuracy) settle(unseen, wrong int64, rate float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if unseen < a.unseen || wrong < a.wrong {
		return // another caller read later totals and came first
	}
	p := &a.periods[a.now]
	p.unseen += unseen - a.unseen
	p.wrong += wrong - a.wrong
	p.expected += float64(unseen-a.unseen) * (a.rate + rate) / 2
	a.unseen, a.wrong, a.rate = unseen, wrong, rate
}

// beginPeriod begins a period; rate is expected after the rotation.
func (a *accuracy) beginPeriod(rate float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = (a.now + 1) % horizon
	a.periods[a.now] = period{}
	a.rate = rate
}

// read fills in the figures of the horizon.
func (a *accuracy) read(m *Measured) {
	a.mu.Lock()
	defer a.mu.Unlock()
	expected := 0.0
	for _, p := range a.periods {
		m.HorizonUnseen += p.unseen
		m.HorizonFalsePositives += p.wrong
		expected += p.expected
	}
	if m.HorizonUnseen > 0 {
		m.Ratio = float64(m.HorizonFalsePositives) / float64(m.HorizonUnseen)
		m.Expected = expected / float64(m.HorizonUnseen)
	}
}
