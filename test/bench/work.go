package main

import (
	"context"
	"fmt"
	"time"

	"edgeproxy/internal/lab/process"
)

// preparation is a work that can be made.
type preparation struct {
	name    string
	prepare func(context.Context) (work, error)
}

// work is something that several servers do.
type work struct {
	name       string
	contenders []contender // edgeproxy first
}

// contender is one server at one work.
type contender struct {
	name string
	pid  int // the server's; what its children use counts as well
	// ask has the server work for about d, and returns how often it did.
	ask func(ctx context.Context, d time.Duration) (int64, error)
	// less is a contender whose time for one piece is taken off; nil: none.
	less *contender
}

// server is an address that one kind of work is asked for at.
type server struct {
	name, address string
	pid           int
	mark          string // in the head of every answer that counts
}

// serverOf is what listens at the only address of a process.
func serverOf(p *process.Process, mark string) server {
	return server{p.Name, p.Address, p.PID(), mark}
}

// at is one of nginx's addresses.
func (n *nginxPeer) at(address string) server { return server{n.Name, address, n.PID(), ""} }

// at is one of HAProxy's addresses.
func (h *haproxyPeer) at(address string) server { return server{h.Name, address, h.PID(), ""} }

// fill asks for all pages of a size, until the server has them.
func (s server) fill(ctx context.Context, size int) error {
	if err := warm(ctx, s.address, pages(size), s.mark); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// hits is the work of answering pages of one size from the cache. A server closes connections that have been silent for long, so each
// is filled before the first is dialled.
func (s *scene) hits(ctx context.Context, size int, servers []server) (w work, err error) {
	for _, at := range servers {
		if err := at.fill(ctx, size); err != nil {
			return w, err
		}
	}
	return s.workOf(servers, func(at server) (*clients, error) { return s.dialHits(at, size) })
}

// misses is the work of fetching size bytes that were never asked for.
func (s *scene) misses(servers []server, size int) (work, error) {
	return s.workOf(servers, func(at server) (*clients, error) { return s.dialMisses(at, size) })
}

// workOf connects to each server until the end of the scene.
func (s *scene) workOf(servers []server, dial func(server) (*clients, error)) (w work, err error) {
	for _, at := range servers {
		c, err := dial(at)
		if err != nil {
			return w, err
		}
		s.later(c.Close)
		w.contenders = append(w.contenders, c.contender(at.name, at.pid))
	}
	return w, nil
}

// contender is the server that c asks.
func (c *clients) contender(name string, pid int) contender {
	return contender{name: name, pid: pid, ask: func(_ context.Context, d time.Duration) (int64, error) { return c.ask(d) }}
}

// dialHits connects to a server that has the pages of a size.
func (s *scene) dialHits(at server, size int) (*clients, error) {
	return s.dial(at, requestsFor(pages(size), at.address), size)
}

// dialMisses connects to a server that is asked for new pages.
func (s *scene) dialMisses(at server, size int) (*clients, error) {
	c, err := s.dial(at, nil, size)
	if err == nil {
		c.fresh = func() []byte { return freshPage(size).request(at.address) }
	}
	return c, err
}

func (s *scene) dial(at server, requests [][]byte, size int) (*clients, error) {
	c, err := dial(at.address, s.o.connections, requests, wanted{size: size, mark: at.mark})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.name, err)
	}
	return c, nil
}

// A round goes on until it has used leastUse: on a busy machine the server may
// get little of its time.
const (
	leastUse  = 50 * time.Millisecond
	maxRepeat = 20
)

// measured is what the rounds of a work say, in microseconds of CPU time.
type measured struct {
	*work
	costs [][]float64 // indices are contender and round
}

// against returns edgeproxy's rounds beside those of the n-th contender.
func (m measured) against(n int) comparison {
	var c comparison
	for i := range m.costs[0] {
		c.pairs = append(c.pairs, pair{edge: m.costs[0][i], bare: m.costs[n][i]})
	}
	return c
}

// measureWork has each contender work in turn, each round another one first.
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
	var used time.Duration
	var done int64
	for range maxRepeat {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		more, n, err := c.spend(ctx, d)
		if err != nil {
			return 0, err
		}
		used, done = used+more, done+n
		if used >= leastUse && done > 0 {
			return float64(used.Nanoseconds()) / 1000 / float64(done), nil
		}
	}
	return 0, fmt.Errorf("used less than %v of CPU time in %d rounds of %v: take longer ones", leastUse, maxRepeat, d)
}

// spend has the server work for d, and returns the CPU time that this took and how often it did.
func (c *contender) spend(ctx context.Context, d time.Duration) (used time.Duration, done int64, err error) {
	before, err := process.TreeTime(c.pid)
	if err != nil {
		return 0, 0, err
	}
	if done, err = c.ask(ctx, d); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.name, err)
	}
	after, err := process.TreeTime(c.pid)
	return after - before, done, err
}
