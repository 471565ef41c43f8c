package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// pair is the cost of two neighbouring rounds, in microseconds of CPU time per
// request.
type pair struct{ edge, bare float64 }

// comparison is what the rounds of one work say.
type comparison struct {
	size     int
	uploaded bool   // each connection has sent an upload before
	misses   bool   // and not hits
	stored   bool   // the misses are
	onDisk   bool   // what is stored lies in files alone
	log      string // the format of the access log that has them; "": none
	by       string // whose log that is
	pairs    []pair
}

// name says what the work is.
func (c comparison) name() string {
	name := "hit of "
	switch {
	case c.stored:
		name = "stored miss of "
	case c.misses:
		name = "miss of "
	}
	name += sizeText(c.size)
	switch {
	case c.uploaded:
		name += " after an upload"
	case c.onDisk:
		name += " on a disk"
	case c.log != "":
		name += ", a line in " + c.log
		if c.by != edgeName {
			name += " of " + c.by
		}
	}
	return name
}

// ratio is the verdict: the median of the ratios.
func (c comparison) ratio() float64 {
	return median(c.pairs, func(p pair) float64 { return p.edge / p.bare })
}

// median of an even number is the mean of the two in the middle.
func median(pairs []pair, of func(pair) float64) float64 {
	values := make([]float64, len(pairs))
	for i, p := range pairs {
		values[i] = of(p)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// measure runs the whole comparison and prints the table. The error says which
// sizes cost too much, or why there is no table.
func (o options) measure(ctx context.Context, stdout io.Writer) (err error) {
	r, err := newRig(o.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var all []comparison
	for _, size := range sizes() {
		c, err := o.assess(ctx, r, size)
		if err != nil {
			return fmt.Errorf("%s: %w", sizeText(size), err)
		}
		all = append(all, c)
	}
	if err := o.print(stdout, all); err != nil {
		return err
	}
	return o.judge(all)
}

// judge names the sizes that are above the limit.
func (o options) judge(all []comparison) error {
	var errs []error
	for _, c := range all {
		if r := c.ratio(); r > o.maxRatio {
			errs = append(errs, fmt.Errorf("a hit of %s costs %.2f times the bare handler, want at most %.2f", sizeText(c.size), r, o.maxRatio))
		}
	}
	return errors.Join(errs...)
}

// assess measures one size, and once more if it is above the limit. Then all the rounds
// decide, so that a busy moment of the machine does not.
func (o options) assess(ctx context.Context, r *rig, size int) (comparison, error) {
	c, err := o.compare(ctx, r, size)
	if err != nil || c.ratio() <= o.maxRatio {
		return c, err
	}
	again, err := o.compare(ctx, r, size)
	c.pairs = append(c.pairs, again.pairs...)
	return c, err
}

// compare measures one size: a round of edgeproxy, a round of bare, and again.
func (o options) compare(ctx context.Context, r *rig, size int) (comparison, error) {
	c := comparison{size: size}
	edge, err := o.connect(ctx, r.edge, size, hitMark)
	if err != nil {
		return c, err
	}
	defer func() { _ = edge.Close() }() // of connections: nothing to lose
	bare, err := o.connect(ctx, r.bare, size, "")
	if err != nil {
		return c, err
	}
	defer func() { _ = bare.Close() }()
	for range o.rounds {
		var p pair
		if p.edge, err = edge.round(ctx, o.roundTime); err != nil {
			return c, err
		}
		if p.bare, err = bare.round(ctx, o.roundTime); err != nil {
			return c, err
		}
		c.pairs = append(c.pairs, p)
	}
	return c, nil
}

// subject is one server with the clients that ask it for the pages of one size.
type subject struct {
	*clients
	server *process
}

func (o options) connect(ctx context.Context, server *process, size int, mark string) (*subject, error) {
	if err := warm(ctx, server.address, pages(size), mark); err != nil {
		return nil, fmt.Errorf("%s: %w", server.name, err)
	}
	return o.dialWarm(server, size, mark)
}

// dialWarm is connect for a server that has the pages. A server closes connections that have been silent for long, so
// where several are asked in turn each is filled before the first is dialled.
func (o options) dialWarm(server *process, size int, mark string) (*subject, error) {
	all := pages(size)
	requests := make([][]byte, len(all))
	for i, p := range all {
		requests[i] = p.request(server.address)
	}
	c, err := dial(server.address, o.connections, requests, wanted{size: size, mark: mark})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.name, err)
	}
	return &subject{c, server}, nil
}

// A round goes on until it has used leastUse: on a busy machine the server may
// get little of its time.
const (
	leastUse  = 50 * time.Millisecond
	maxRepeat = 20
)

// round returns the CPU time per request, in microseconds.
func (s *subject) round(ctx context.Context, d time.Duration) (float64, error) {
	before, err := cpuTime(s.server.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	var answers int64
	for range maxRepeat {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := s.ask(d)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.server.name, err)
		}
		answers += n
		now, err := cpuTime(s.server.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		if used := now - before; used >= leastUse {
			return float64(used.Nanoseconds()) / 1000 / float64(answers), nil
		}
	}
	return 0, fmt.Errorf("%s: used less than %v of CPU time in %d rounds of %v: take longer ones", s.server.name, leastUse, maxRepeat, d)
}
