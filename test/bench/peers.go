package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// preparation is a work that can be made.
type preparation struct {
	name    string
	prepare func(context.Context) (work, error)
}

// work is something that edgeproxy and its peers all do.
type work struct {
	name       string
	contenders []contender // edgeproxy first
}

// contender is one server at one work.
type contender struct {
	name string
	pid  int // of the server; what its children use counts as well
	// ask has the server work for about d, and returns how often it did.
	ask func(ctx context.Context, d time.Duration) (int64, error)
	// less is a contender whose time for one piece is taken off; nil: none.
	less *contender
}

// measured is what the rounds of a work say, in microseconds of CPU time.
type measured struct {
	*work
	costs [][]float64 // by contender and round
}

// against returns edgeproxy's rounds beside those of the n-th contender.
func (m measured) against(n int) comparison {
	var c comparison
	for i := range m.costs[0] {
		c.pairs = append(c.pairs, pair{edge: m.costs[0][i], bare: m.costs[n][i]})
	}
	return c
}

// measurePeers measures every work of the peers that are installed, and prints the table. Each
// round asks every contender in turn, each time another one first.
func (o options) measurePeers(ctx context.Context, stdout io.Writer) (err error) {
	f, err := newField(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	works := slices.DeleteFunc(f.works(), func(p preparation) bool { return !o.only.MatchString(p.name) })
	if len(works) == 0 && !o.only.MatchString(lateName) && !o.only.MatchString(besideName) {
		return fmt.Errorf("--only %s: no work of peers is called so", o.only)
	}
	all, err := o.measureWorks(ctx, works)
	if err != nil {
		return err
	}
	if err := o.printPeers(stdout, all); err != nil {
		return err
	}
	if o.only.MatchString(lateName) {
		late, err := f.measureLateness(ctx)
		if err != nil {
			return fmt.Errorf("open loop: %w", err)
		}
		if err := late.print(stdout); err != nil {
			return err
		}
	}
	if o.only.MatchString(besideName) {
		if err := f.measureBeside(ctx, stdout); err != nil {
			return fmt.Errorf("reads beside writes: %w", err)
		}
	}
	return printAbsent(stdout, f.absent)
}

func (o options) measureWorks(ctx context.Context, works []preparation) (all []measured, err error) {
	for _, p := range works {
		w, err := p.prepare(ctx)
		if err != nil {
			return nil, err
		}
		w.name = p.name
		m, err := o.measureWork(ctx, &w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (o options) measureWork(ctx context.Context, w *work) (measured, error) {
	m := measured{work: w, costs: make([][]float64, len(w.contenders))}
	for i := range w.contenders {
		if _, err := w.contenders[i].ask(ctx, o.roundTime); err != nil { // it gets going
			return m, fmt.Errorf("%s: %w", w.contenders[i].name, err)
		}
	}
	for round := range o.rounds {
		for i := range w.contenders {
			n := (i + round) % len(w.contenders)
			cost, err := w.contenders[n].round(ctx, o.roundTime)
			if err != nil {
				return m, fmt.Errorf("%s: %w", w.contenders[n].name, err)
			}
			m.costs[n] = append(m.costs[n], cost)
		}
	}
	return m, nil
}

// round returns the CPU time of the server for one piece of work, in microseconds, less that of another where there is one.
func (c *contender) round(ctx context.Context, d time.Duration) (float64, error) {
	cost, err := c.cost(ctx, d)
	if err != nil || c.less == nil {
		return cost, err
	}
	other, err := c.less.cost(ctx, d)
	return cost - other, err
}

func (c *contender) cost(ctx context.Context, d time.Duration) (float64, error) {
	before, err := treeTime(c.pid)
	if err != nil {
		return 0, err
	}
	var done int64
	for range maxRepeat {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := c.ask(ctx, d)
		if err != nil {
			return 0, err
		}
		done += n
		now, err := treeTime(c.pid)
		if err != nil {
			return 0, err
		}
		if used := now - before; used >= leastUse && done > 0 {
			return float64(used.Nanoseconds()) / 1000 / float64(done), nil
		}
	}
	return 0, fmt.Errorf("used less than %v of CPU time in %d rounds of %v: take longer ones", leastUse, maxRepeat, d)
}
