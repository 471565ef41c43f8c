package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// A cache of many small objects is measured at two sizes, and once more while it evicts.
const (
	fewObjects    = 10_000
	manyBytes     = 200    // of each body
	manyCost      = 900    // bytes of the memory tier for each object, a little more than it takes
	manyRate      = 10_000 // requests a second
	manyMissRate  = 1_000  // of them misses that are stored, while it evicts
	manyAsked     = 1 << 16
	manyRounds    = 200 // round-times of each measurement: a p99.9 wants many answers
	manyFillers   = 8
	manyPipelined = 32
)

// crowd is an edge that is filled with many objects.
type crowd struct {
	origin *rawOrigin
	edge   *process
	o      options
	admin  string
	gc     *gcTrace
	dir    string
	unpin  func() error
	filled int // objects were asked for
	out    *tabwriter.Writer
}

// measureMany prints what hits cost, how late they are, and what the collector takes, with few objects,
// with many, and with many in a full cache while others are stored.
func (o options) measureMany(ctx context.Context, w io.Writer) (err error) {
	c, err := newCrowd(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := fmt.Fprintf(w, "Hits of %d bytes over loopback by %d connections in an open loop, %d a second for %v, from when each was due;\n%d of them misses in the last two rows. A collection is due in the last one. The collector's share is that of one processor, without what\nit used while there was nothing else to do.\n\n",
		manyBytes, lateConnections, manyRate, c.time(), manyMissRate); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	c.out = tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(c.out, "objects\taccounted each\tresident\tCPU a hit\tcollections\tcollector\tp50\tp99\tp99.9\tmost\tover 5 ms\t")
	for _, n := range []int{min(fewObjects, o.many), o.many} {
		if err := c.fill(ctx, n); err != nil {
			return err
		}
		if err := c.row(ctx, 0); err != nil {
			return err
		}
	}
	if err := c.overfill(ctx); err != nil {
		return err
	}
	if err := c.row(ctx, manyMissRate); err != nil {
		return err
	}
	if err := c.awaitCollection(ctx); err != nil {
		return err
	}
	if err := c.row(ctx, manyMissRate); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

func newCrowd(o options) (c *crowd, err error) {
	c = &crowd{o: o, gc: &gcTrace{}}
	if c.dir, err = os.MkdirTemp("", "edgeproxy-many-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *crowd) start() (err error) {
	if c.origin, err = startRawOrigin(manyBytes); err != nil {
		return err
	}
	if c.admin, err = freeAddress(); err != nil {
		return err
	}
	path := filepath.Join(c.dir, "edgeproxy.yaml")
	file := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: %q, pprof: true}\norigins: {app: {servers: [\"http://%s\"]}}\n"+
		"admission: {policy: always}\ncache: {memory: {max_bytes: %dB, max_object_bytes: 64KiB}}\n", c.admin, c.origin.address, max(int64(c.o.many)*manyCost, 4<<20))
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		return fmt.Errorf("write edgeproxy's file: %w", err)
	}
	output, w := io.Pipe()
	if c.edge, err = launchTo(w, "edgeproxy", []string{"GODEBUG=gctrace=1"}, c.o.program, "serve", "-c", path); err != nil {
		return err
	}
	found := make(chan string, 1)
	go c.edge.listen(io.TeeReader(output, c.gc), edgeAddress, found)
	if err := c.edge.await(found); err != nil {
		return err
	}
	c.unpin, err = pinServers([]int{c.edge.cmd.Process.Pid})
	return err
}

// time is how long each measurement takes.
func (c *crowd) time() time.Duration { return manyRounds * c.o.roundTime }

// Close ends everything that was started.
func (c *crowd) Close() error {
	var errs []error
	if c.edge != nil {
		errs = append(errs, c.edge.Close())
	}
	if c.unpin != nil {
		errs = append(errs, c.unpin())
	}
	if c.origin != nil {
		errs = append(errs, c.origin.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

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

// row measures hits beside so many misses a second, which are stored, and prints what it has found.
func (c *crowd) row(ctx context.Context, misses float64) (err error) {
	requests, err := c.sample(ctx)
	if err != nil {
		return err
	}
	l, err := newOpenLoop(c.edge.address, lateConnections, requests, wanted{size: manyBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	l.hits = true
	if c.o.realTime {
		l.realTime = true
		if err := hasten(c.edge.cmd.Process.Pid); err != nil {
			return err
		}
		defer relax(c.edge.cmd.Process.Pid)
	}
	stop := c.storeOthers(ctx, misses)
	pid := c.edge.cmd.Process.Pid
	cpu, times, gc := cpuUsed(pid), c.gc.count(), c.gc.total()
	took, err := l.measure(ctx, c.time(), manyRate-misses)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	if len(took) == 0 {
		return &AnswerError{Why: "is a hit in no case"}
	}
	cpu, times, gc = cpuUsed(pid)-cpu, c.gc.count()-times, c.gc.total()-gc
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
	us := func(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d)/1000) }
	each := "-"
	if misses == 0 {
		each = fmt.Sprintf("%.1f µs", float64(cpu)/1000/float64(len(took)))
	}
	fmt.Fprintf(c.out, "%.0f\t%.0f B\t%d MiB\t%s\t%d\t%.2f %%\t%s\t%s\t%s\t%s\t%d of %d\t\n", s.objects, s.bytes/max(s.objects, 1), resident(pid)>>20, each,
		times, 100*gc.Seconds()/c.time().Seconds(), us(percentile(took, 0.5)), us(percentile(took, 0.99)), us(percentile(took, 0.999)), us(took[len(took)-1]), late, len(took))
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
		requests[i] = manyPage(n).request(c.edge.address)
	}
	return requests, nil
}
