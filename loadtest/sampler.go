package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// A run is sampled this often, but at intervals of minInterval or more: a sample
	// costs the proxy a few milliseconds of one core.
	wantedSamples = 200
	minInterval   = 250 * time.Millisecond
	// maxSamplesKept bounds the samples of a run that takes far longer than its schedule.
	// At this number every other sample is dropped, and the interval doubles.
	maxSamplesKept = 2 * wantedSamples
)

// sampleInterval returns the time between two samples of a run of the given length.
func sampleInterval(planned time.Duration) time.Duration {
	return max(minInterval, planned/wantedSamples)
}

// sampler scrapes the counts of a proxy while it works, for the curves of the
// report.
type sampler struct {
	every         time.Duration
	stop, stopped chan struct{}

	// Read these only after Close.
	samples []counts // in the order of time
	cost    sampleCost
	err     error // why sampling ended early
}

// sampleCost is the cost of one run's samples.
type sampleCost struct {
	samples int           // including dropped ones
	took    time.Duration // total time of all scrapes
}

// mean returns the mean time of one sample.
func (c sampleCost) mean() time.Duration { return c.took / time.Duration(max(c.samples, 1)) }

// startSampler samples s at the interval every until Close, or until a sample fails.
func startSampler(ctx context.Context, s scraper, every time.Duration) *sampler {
	m := &sampler{every: every, stop: make(chan struct{}), stopped: make(chan struct{})}
	go m.run(ctx, s)
	return m
}

// Close ends the sampling and waits for the sample in progress.
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
			m.sample(ctx, s)
		case <-m.stop:
			return
		}
		if len(m.samples) == maxSamplesKept {
			m.thin()
			tick.Reset(m.every)
		}
	}
}

func (m *sampler) sample(ctx context.Context, s scraper) {
	start := time.Now()
	c, err := scrapeTolerant(ctx, s)
	m.cost.took += time.Since(start)
	m.cost.samples++
	if err != nil {
		m.err = fmt.Errorf("look %d: %w", m.cost.samples, err)
		return
	}
	m.samples = append(m.samples, c)
}

func (m *sampler) thin() {
	kept := m.samples[:0]
	for i := 1; i < len(m.samples); i += 2 {
		kept = append(kept, m.samples[i])
	}
	m.samples, m.every = kept, 2*m.every
}
