package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"edgeproxy/internal/lab/figures"
)

// series are the rounds of one subject, in nanoseconds a sighting.
type series struct {
	name    string
	keys    int
	workers int
	bits    float64 // a key
	rounds  []float64
}

func (s *series) median() float64 { return figures.Median(s.rounds) }

// ratio is the median of how much longer the slow one took in neighbouring
// rounds.
func ratio(slow, fast *series) float64 {
	ratios := make([]float64, len(fast.rounds))
	for i := range ratios {
		ratios[i] = slow.rounds[i] / fast.rounds[i]
	}
	return figures.Median(ratios)
}

// round sights one round's keys and returns the nanoseconds that pass for each
// sighting. It is worked out from the median of the batches, for those in which
// the machine did something else say nothing of the filter. Rotations of full
// filters are not in it.
func (s *subject) round(streams []stream, sightings int) float64 {
	spent := make([][]float64, len(streams))
	each := sightings / len(streams) / batchKeys
	var wg sync.WaitGroup
	for w := range streams {
		wg.Go(func() {
			keys := make([]key, batchKeys)
			for range each {
				streams[w].fill(keys)
				start := time.Now()
				s.sight(keys)
				spent[w] = append(spent[w], float64(time.Since(start).Nanoseconds()))
				if s.full() {
					s.rotate()
				}
			}
		})
	}
	wg.Wait()
	// The workers run side by side, so that many batches pass in one's time.
	return figures.Median(slices.Concat(spent...)) / batchKeys / float64(len(streams))
}

// warm fills the window, so that every generation is full and memory is there.
func (s *subject) warm(keys int) {
	batch := make([]key, batchKeys)
	for n := 0; n < generations*keys; n += len(batch) {
		for i := range batch {
			batch[i] = hash(uint64(n + i))
		}
		s.sight(batch)
		if s.full() && n+len(batch) < generations*keys {
			s.rotate()
		}
	}
}

// bench is the filters of one size, warm.
type bench struct {
	keys   int
	all    []*subject
	supply supply
}

func newBench(keys int) (*bench, error) {
	all, err := subjects(keys)
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { s.warm(keys) })
	}
	wg.Wait()
	return &bench{keys: keys, all: all, supply: supply{next: uint64(generations * keys), span: uint64(keys) / 2}}, nil
}

// compare runs the rounds of every subject in turn.
func (b *bench) compare(ctx context.Context, o options, workers int) ([]*series, error) {
	out := make([]*series, len(b.all))
	for i, s := range b.all {
		out[i] = &series{name: s.name, keys: b.keys, workers: workers, bits: s.bitsPerKey(b.keys)}
	}
	for range o.rounds {
		before := b.supply
		for i, s := range b.all {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("measure %s: %w", s.name, err)
			}
			b.supply = before
			took := s.round(b.supply.streams(workers, o.sightings), o.sightings)
			out[i].rounds = append(out[i].rounds, took)
		}
	}
	return out, nil
}
