package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/lab/trace"
)

// driver sends the requests of a trace in order, each at its own time. This is an open
// loop: a slow response does not change the times of later requests.
//
// Request i is due at start + i/rate. It waits while all connections are busy, and is
// not queued in memory. Latency counts from the time it was due.
type driver struct {
	replay      *replay
	host        string // the value of the field Host
	rate        float64
	connections int
	dial        func(context.Context) (net.Conn, error)
	pause       func(context.Context, time.Duration) // may return early
	done        atomic.Int64                         // requests finished, for a progress display
}

// job is one request and the time it is due.
type job struct {
	object uint32
	due    time.Time
}

// run replays the whole trace and returns the merged tallies. If ctx ends first it
// returns the cause, after all connections have ended.
func (d *driver) run(ctx context.Context) (*tally, error) {
	jobs := make(chan job)
	tallies := make([]*tally, d.connections)
	var wg sync.WaitGroup
	for i := range tallies {
		w := newWorker(d)
		tallies[i] = w.tally
		wg.Go(func() { w.serve(ctx, jobs) })
	}
	err := d.dispatch(ctx, jobs)
	close(jobs)
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return merge(tallies), nil
}

// dispatch hands each request to a free connection at its time, or as soon after that
// as one is free.
func (d *driver) dispatch(ctx context.Context, jobs chan<- job) error {
	start := time.Now()
	interval := float64(time.Second) / d.rate
	sent := 0
	return d.replay.Each(ctx, func(batch []trace.Access) error {
		for i := range batch {
			due := start.Add(time.Duration(float64(sent) * interval))
			d.waitUntil(ctx, due)
			select {
			case jobs <- job{object: batch[i].Object, due: due}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			sent++
		}
		return nil
	})
}

func (d *driver) waitUntil(ctx context.Context, due time.Time) {
	for ctx.Err() == nil {
		left := time.Until(due)
		if left <= 0 {
			return
		}
		d.pause(ctx, left)
	}
}

// pauseTimer waits for d or for the end of ctx, whichever is first.
func pauseTimer(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
