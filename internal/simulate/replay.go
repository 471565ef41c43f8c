package simulate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/model"
	"edgeproxy/internal/trace"
)

// usualChunk is how many requests, or a batch more, a runner gets at a time. It
// is large enough for a model to warm the processor's caches again, and small
// enough for Ctrl-C.
const usualChunk = 1 << 16

// runner replays requests, in order. One runner is used by one goroutine at a
// time.
type runner interface {
	replay(requests []trace.Access)
}

// crew hands each chunk of the requests to every runner and waits for all, so
// that the log is read once and no runner is ahead of another.
type crew struct {
	runners []runner // the slowest first
	workers int
	chunk   int
	clock   func() time.Time
	busy    []time.Duration // of each runner, on one core
}

func newCrew(runners []runner, workers, chunk int, clock func() time.Time) *crew {
	return &crew{
		runners: runners, workers: max(1, min(workers, len(runners))), chunk: chunk, clock: clock,
		busy: make([]time.Duration, len(runners)),
	}
}

// run replays the whole trace. progress, if not nil, is called after each chunk
// with the number of requests replayed. It returns the context's error when that
// ends first.
func (c *crew) run(ctx context.Context, t *trace.Trace, progress func(done int64)) error {
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

// all lets every runner replay the requests; the workers take the next one that
// nobody has yet.
func (c *crew) all(ctx context.Context, requests []trace.Access) error {
	var next atomic.Int64 // the first runner that nobody has taken
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

// modelled replays requests with a model.
type modelled struct{ run *model.Run }

func (m modelled) replay(requests []trace.Access) { m.run.Requests(requests) }

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
