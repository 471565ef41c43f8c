package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// A run is looked at this often, but not more often than leastBetween: a look
	// costs the proxy a few milliseconds of one core.
	wantedLooks  = 200
	leastBetween = 250 * time.Millisecond
	// maxLooks bounds a run that takes far longer than its schedule: at so many
	// looks every other one is dropped, and the next ones come half as often.
	maxLooks = 2 * wantedLooks
)

// lookEvery is the time between two looks at a run of the given length.
func lookEvery(planned time.Duration) time.Duration { return max(leastBetween, planned/wantedLooks) }

// sampler looks at the counts of a proxy while it works, for the curves of the
// report.
type sampler struct {
	every         time.Duration
	stop, stopped chan struct{}

	// To be read after Close.
	looks []counts // in the order of time
	cost  lookCost
	err   error // what ended the looks early
}

// lookCost is what the looks at one run took.
type lookCost struct {
	looks int           // those that were dropped among them
	took  time.Duration // from asking to having the counts, all together
}

// mean is the time of one look.
func (c lookCost) mean() time.Duration { return c.took / time.Duration(max(c.looks, 1)) }

// startSampler looks at s every so often until Close, or until a look fails.
func startSampler(ctx context.Context, s scraper, every time.Duration) *sampler {
	m := &sampler{every: every, stop: make(chan struct{}), stopped: make(chan struct{})}
	go m.run(ctx, s)
	return m
}

// Close ends the looks and waits for the one under way.
func (m *sampler) Close() {
	close(m.stop)
	<-m.stopped
}

func (m *sampler) run(ctx context.Context, s scraper) {
	defer close(m.stopped)
	tick := time.NewTicker(m.every)
	defer tick.Stop()
	for m.err == nil {
		select {
		case <-tick.C:
			m.look(ctx, s)
		case <-m.stop:
			return
		}
		if len(m.looks) == maxLooks {
			m.thin()
			tick.Reset(m.every)
		}
	}
}

func (m *sampler) look(ctx context.Context, s scraper) {
	start := time.Now()
	c, err := early(ctx, s)
	m.cost.took += time.Since(start)
	m.cost.looks++
	if err != nil {
		m.err = fmt.Errorf("look %d: %w", m.cost.looks, err)
		return
	}
	m.looks = append(m.looks, c)
}

func (m *sampler) thin() {
	kept := m.looks[:0]
	for i := 1; i < len(m.looks); i += 2 {
		kept = append(kept, m.looks[i])
	}
	m.looks, m.every = kept, 2*m.every
}
