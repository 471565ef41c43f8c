package simulate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/lab/trace"
)

// defaultChunk is how many requests a runner gets at a time; it may get one batch more.
// It is large enough to warm the processor's caches for a model, and small enough for a
// quick end on Ctrl-C.
const defaultChunk = 1 << 16

// runner replays requests, in order. One runner is used by one goroutine at a
// time.
type runner interface {
	replay(requests []trace.Access)
}

// runnerPool gives each chunk of requests to every runner and waits for all of them.
// So the log is read once, and no runner is more than a chunk ahead of another.
type runnerPool struct {
	runners []runner // the slowest first
	workers int
	chunk   int
	clock   func() time.Time
	busy    []time.Duration // time of each runner, on one core
}

func newRunnerPool(runners []runner, workers, chunk int, clock func() time.Time) *runnerPool {
	return &runnerPool{
		runners: runners, workers: max(1, min(workers, len(runners))), chunk: chunk, clock: clock,
		busy: make([]time.Duration, len(runners)),
	}
}

// run replays the whole trace. progress, if not nil, is called after each chunk
// with the number of requests replayed. If ctx ends first, run returns its error.
func (c *runnerPool) run(ctx context.Context, t *trace.Trace, progress func(done int64)) error {
	pending := make([]trace.Access, 0, c.chunk+c.chunk/8)
	var done int64
	flush := func() error {
		if err := c.all(ctx, pending); err != nil {
			return err
		}
		done += int64(len(pending))
		pending = pending[:0]
		if progress != nil {
			progress(done)
		}
		return nil
	}
	err := t.Each(ctx, func(batch []trace.Access) error {
		if pending = append(pending, batch...); len(pending) < c.chunk {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// all lets every runner replay the requests. Each worker takes the next free runner.
func (c *runnerPool) all(ctx context.Context, requests []trace.Access) error {
	var next atomic.Int64 // the first runner that no worker has taken
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(c.runners) {
				return
			}
			start := c.clock()
			c.runners[i].replay(requests)
			c.busy[i] += c.clock().Sub(start)
		}
	}
	var wg sync.WaitGroup
	for range c.workers {
		wg.Go(work)
	}
	wg.Wait()
	return ctx.Err()
}

// modelRunner replays requests with a model.
type modelRunner struct{ model player }

func (m modelRunner) replay(requests []trace.Access) { m.model.Requests(requests) }

// span notes the times of the first and of the last request.
type span struct {
	begun       bool
	first, last int64 // Unix nanoseconds
}

func (s *span) replay(requests []trace.Access) {
	if len(requests) == 0 {
		return
	}
	if !s.begun {
		s.begun, s.first = true, requests[0].At
	}
	s.last = requests[len(requests)-1].At
}
