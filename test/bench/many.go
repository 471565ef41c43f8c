package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"edgeproxy/internal/lab/figures"
	"edgeproxy/internal/lab/process"
)

// A cache of many small objects is measured at two sizes, and once more while it evicts.
const (
	fewObjects    = 10_000
	manyBytes     = 200    // in each body
	manyCost      = 900    // bytes of the memory tier for each object, a little more than it takes
	manyRate      = 10_000 // requests a second
	manyMissRate  = 1_000  // misses among them that are stored, while it evicts
	manyAsked     = 1 << 16
	manyRounds    = 200 // round-times of each measurement: a p99.9 wants many answers
	manyFillers   = 8
	manyPipelined = 32
)

// crowd is an edge that is filled with many objects.
type crowd struct {
	*scene
	edge   *process.Process
	admin  string
	gc     gcTrace
	filled int // objects were asked for
	table  figures.Table
}

// measureMany prints what hits cost, how late they are, and what the collector takes, with few objects,
// with many, and with many in a full cache while others are stored.
func (s *scene) measureMany(ctx context.Context, w io.Writer) (err error) {
	c := &crowd{scene: s}
	if err := c.start(ctx); err != nil {
		return err
	}
	c.table = figures.Table{Right: true, Text: fmt.Sprintf("Hits of %d bytes over loopback by %d connections in an open loop, %d a second for %v, from when each was due;\n%d of them misses in the last two rows. A collection is due in the last one. The collector's share is that of one processor, without what\nit used while there was nothing else to do.\n\n",
		manyBytes, lateConnections, manyRate, c.time(), manyMissRate)}
	c.table.Row("objects", "accounted each", "resident", "CPU a hit", "collections", "collector", "p50", "p99", "p99.9", "most", "over 5 ms")
	for _, n := range []int{min(fewObjects, c.o.many), c.o.many} {
		if err := c.fill(ctx, n); err != nil {
			return err
		}
		if err := c.row(ctx, 0); err != nil {
			return err
		}
	}
	for _, prepare := range []func(context.Context) error{c.overfill, c.awaitCollection} {
		if err := prepare(ctx); err != nil {
			return err
		}
		if err := c.row(ctx, manyMissRate); err != nil {
			return err
		}
	}
	return c.table.Write(w)
}

func (c *crowd) start(ctx context.Context) error {
	origin, err := startRawOrigin(manyBytes)
	if err != nil {
		return err
	}
	c.later(origin.Close)
	at, err := process.FreeAddresses(1)
	if err != nil {
		return err
	}
	c.admin = at[0]
	c.edge, err = c.scene.start(ctx, edge{
		name: "many", origin: origin.address, admin: fmt.Sprintf("address: %q, pprof: true", c.admin),
		sections: fmt.Sprintf("admission: {policy: always}\ncache: {memory: {max_bytes: %dB, max_object_bytes: 64KiB}}", max(int64(c.o.many)*manyCost, 4<<20)),
		run:      process.Command{Env: []string{"GODEBUG=gctrace=1"}, Output: &c.gc},
	})
	if err != nil {
		return err
	}
	return c.pin(c.edge.PID())
}

// time is how long each measurement takes.
func (c *crowd) time() time.Duration { return manyRounds * c.o.roundTime }

// overfill asks for more objects until some have been evicted.
func (c *crowd) overfill(ctx context.Context) error {
	for {
		s, err := readStore(ctx, c.admin)
		if err != nil || s.evictions > 0 {
			return err
		}
		if err := c.fill(ctx, c.filled+c.filled/20+1000); err != nil {
			return err
		}
	}
}

// hasten has the edge run in real time, if that is asked for, until relax.
func (c *crowd) hasten() error {
	if !c.o.realTime {
		return nil
	}
	return hasten(c.edge.PID())
}

func (c *crowd) relax() {
	if c.o.realTime {
		relax(c.edge.PID())
	}
}

// row measures hits beside so many misses a second, which are stored, and prints what it has found.
func (c *crowd) row(ctx context.Context, misses float64) (err error) {
	requests, err := c.sample(ctx)
	if err != nil {
		return err
	}
	l, err := newOpenLoop(c.edge.Address, lateConnections, requests, wanted{size: manyBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	l.hits, l.realTime = true, c.o.realTime
	if err := c.hasten(); err != nil {
		return err
	}
	defer c.relax()
	stop := c.storeOthers(ctx, misses)
	cpu, err := process.CPUTime(c.edge.PID())
	if err != nil {
		return errors.Join(err, stop())
	}
	times, gc := c.gc.count(), c.gc.total()
	took, err := l.measure(ctx, c.time(), manyRate-misses)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	if len(took) == 0 {
		return &AnswerError{Why: "is a hit in no case"}
	}
	used, err := process.CPUTime(c.edge.PID())
	if err != nil {
		return err
	}
	times, gc = c.gc.count()-times, c.gc.total()-gc
	s, err := readStore(ctx, c.admin)
	if err != nil {
		return err
	}
	late := 0
	for _, d := range took {
		if d > 5*time.Millisecond {
			late++
		}
	}
	slices.Sort(took)
	us := func(q float64) string { return fmt.Sprintf("%.0f µs", float64(figures.Quantile(took, q))/1000) }
	each := "-"
	if misses == 0 {
		each = fmt.Sprintf("%.1f µs", float64(used-cpu)/1000/float64(len(took)))
	}
	c.table.Rowf("%.0f\t%.0f B\t%d MiB\t%s\t%d\t%.2f %%\t%s\t%s\t%s\t%s\t%d of %d", s.objects, s.bytes/max(s.objects, 1), process.Resident(c.edge.PID())>>20, each,
		times, 100*gc.Seconds()/c.time().Seconds(), us(0.5), us(0.99), us(0.999), us(1), late, len(took))
	return nil
}

// sample returns requests for objects that are held, drawn from all that were asked for. Each was a hit
// twice: what is in demand stays.
func (c *crowd) sample(ctx context.Context) ([][]byte, error) {
	r := rand.New(rand.NewPCG(1, uint64(c.filled))) //nolint:gosec // a count
	numbers := make([]int, min(manyAsked, c.filled))
	for i := range numbers {
		numbers[i] = r.IntN(c.filled)
	}
	for range 2 {
		if err := c.ask(ctx, func(i int) (int, bool) {
			if i >= len(numbers) {
				return 0, false
			}
			return numbers[i], true
		}); err != nil {
			return nil, err
		}
	}
	requests := make([][]byte, len(numbers))
	for i, n := range numbers {
		requests[i] = manyPage(n).request(c.edge.Address)
	}
	return requests, nil
}
