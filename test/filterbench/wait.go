package main

import (
	"context"
	"slices"
	"time"
)

// Lengths of the waits' measurement.
const (
	calmTime   = 300 * time.Millisecond
	maxSamples = 2 << 20
)

// wait is how long single sightings took, with nothing beside them and beside
// rotations, in nanoseconds.
type wait struct {
	name           string
	calm, rotating []int64 // sorted
	clearing       []time.Duration
}

// waits rotates every subject, whose generations are full, and times single
// sightings beside it. It stops early, with fewer subjects, when ctx ends.
func (b *bench) waits(ctx context.Context) []*wait {
	var out []*wait
	for _, s := range b.all {
		if ctx.Err() != nil {
			break
		}
		w := &wait{name: s.name}
		end := time.Now().Add(calmTime)
		w.calm = s.sample(&b.supply, func() bool { return time.Now().After(end) })
		for range generations { // one for each full generation
			done := make(chan time.Duration, 1)
			go func() {
				start := time.Now()
				s.rotate()
				done <- time.Since(start)
			}()
			w.rotating = append(w.rotating, s.sample(&b.supply, func() bool { return len(done) > 0 })...)
			w.clearing = append(w.clearing, <-done)
		}
		slices.Sort(w.calm)
		slices.Sort(w.rotating)
		out = append(out, w)
	}
	return out
}

// sample times sightings one by one until over says so; the last one is over
// when it does. They are of the same kinds as those of a round.
func (s *subject) sample(keys *supply, over func() bool) []int64 {
	stream := keys.streams(1, maxSamples)[0]
	batch := make([]key, batchKeys)
	out := make([]int64, 0, maxSamples)
	for len(out) < maxSamples {
		stream.fill(batch)
		for i := range batch {
			start := time.Now()
			s.sight(batch[i : i+1])
			out = append(out, time.Since(start).Nanoseconds())
			if over() {
				return out
			}
		}
	}
	return out
}
