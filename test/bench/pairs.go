package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"edgeproxy/internal/lab/figures"
	"edgeproxy/internal/lab/process"
)

// pairWorks are what two programs are compared by: hits of a body that leaves in a buffer with its
// head, also behind an upload on the same connection, and of one that is not copied, misses of both sizes that are held back, misses that are stored, in memory and on a disk, and hits on a disk.
func pairWorks() []comparison {
	works := []comparison{
		{size: 1 << 10},
		{size: freshSize, uploaded: true},
		{size: 16 << 10},
		{size: freshSize, misses: true},
		{size: 16 << 10, misses: true},
		{size: freshSize, misses: true, stored: true},
		{size: freshSize, misses: true, stored: true, onDisk: true},
		{size: 16 << 10, misses: true, stored: true, onDisk: true},
	}
	for _, size := range diskSizes() {
		works = append(works, comparison{size: size, onDisk: true})
	}
	return works
}

// measurePairs compares program with base, prints the table, and names the works whose median
// ratio is above the limit. In the pairs edge is program and bare is base.
func (o options) measurePairs(ctx context.Context, stdout io.Writer) error {
	all := slices.DeleteFunc(pairWorks(), func(c comparison) bool { return !o.only.MatchString(c.name()) })
	if len(all) == 0 {
		return fmt.Errorf("--only %s: no work of pairs is called so", o.only)
	}
	for i := range o.rounds {
		if err := o.withScene(func(s *scene) error { return s.pairOnce(ctx, i%2 == 1, all) }); err != nil {
			return fmt.Errorf("pair %d: %w", i+1, err)
		}
	}
	err := o.printRows(stdout, all, fmt.Sprintf("Over loopback: CPU time per request of two programs, %d pairs of %v each, in turn,\n"+
		"both started anew for each pair, %d connections of HTTP/1.1, GOMAXPROCS=1.\n\n", o.rounds, o.roundTime, o.connections), "base", "edgeproxy")
	if err != nil {
		return err
	}
	return o.judgePairs(all)
}

// pairOnce starts both programs, for each start has its own luck with memory, fills them with
// the same pages, and measures one after the other.
func (s *scene) pairOnce(ctx context.Context, turned bool, all []comparison) (err error) {
	programs := [2]string{s.o.base, s.o.program}
	var servers [roles][2]*process.Process
	var pids []int
	for n := range programs {
		if turned {
			n = 1 - n
		}
		for r := range roles {
			if !slices.ContainsFunc(all, func(c comparison) bool { return c.role() == r }) {
				continue
			}
			if servers[r][n], err = s.startAs(ctx, r, programs[n], strconv.Itoa(n)); err != nil {
				return err
			}
			pids = append(pids, servers[r][n].PID())
		}
	}
	if err := s.pin(pids...); err != nil {
		return err
	}
	for i := range all {
		p, err := s.alternate(ctx, servers[all[i].role()], all[i], turned)
		if err != nil {
			return err
		}
		all[i].pairs = append(all[i].pairs, p)
	}
	return nil
}

// role is how an edgeproxy is set up for a work.
type role int

const (
	asUsual    role = iota
	asStoring       // every response is stored
	asFullDisk      // all pages lie on a disk
	asWriting       // every response is stored on a disk
	roles
)

// role is what c asks.
func (c comparison) role() role {
	switch {
	case c.stored && c.onDisk:
		return asWriting
	case c.onDisk:
		return asFullDisk
	case c.stored:
		return asStoring
	}
	return asUsual
}

// startAs starts an edgeproxy as a role has it, with files called after number.
func (s *scene) startAs(ctx context.Context, r role, program, number string) (*process.Process, error) {
	var e edge
	switch r {
	case asFullDisk:
		e = s.onDisk("disk"+number, noMemory)
		e.program = program
		return s.startFullDisk(ctx, e)
	case asStoring:
		e = edge{name: "storing" + number, sections: fmt.Sprintf("admission: {policy: always}\ncache: {memory: {max_bytes: %dB}}", pairBytes)}
	case asWriting:
		e = s.onDisk("writing"+number, "")
	case asUsual, roles:
		e = edge{name: "usual" + number}
	}
	e.program = program
	return s.start(ctx, e)
}

// pairBytes is what an edgeproxy that stores may keep. It is full before a stored miss is measured, so that something is evicted for
// each.
const pairBytes = 64 << 20

// A pair is made of slices in turn, so that a busy second of the machine meets both programs.
const (
	slice  = 25 * time.Millisecond
	settle = 4 * slice // for which each is asked before it is measured
)

// alternate measures base and program, each for roundTime.
func (s *scene) alternate(ctx context.Context, servers [2]*process.Process, work comparison, turned bool) (p pair, err error) {
	order := [2]int{0, 1}
	if turned { // the one that connects first may have larger congestion windows
		order = [2]int{1, 0}
	}
	for _, i := range order {
		if err := s.fillFor(ctx, servers[i], work); err != nil {
			return p, err
		}
	}
	var both [2]spent
	for _, i := range order {
		c, err := s.clientsFor(ctx, servers[i], work)
		if err != nil {
			return p, err
		}
		defer func() { _ = c.Close() }() // connections alone: nothing to lose
		if _, err = c.ask(settle); err != nil {
			return p, fmt.Errorf("%s: %w", servers[i].Name, err)
		}
		both[i].contender = c.contender(servers[i].Name, servers[i].PID())
	}
	for n := range 2 * max(1, int(s.o.roundTime/slice)) {
		which := n % 2
		if n/2%2 == 1 != turned { // A B B A
			which = 1 - which
		}
		if err := both[which].more(ctx, min(slice, s.o.roundTime)); err != nil {
			return p, err
		}
	}
	return pair{bare: both[0].each(), edge: both[1].each()}, nil
}

// fillFor fills the memory of a server where a work is of misses that are stored there. Its connections are closed: by the time the other
// server's cache is full, the server might have closed them.
func (s *scene) fillFor(ctx context.Context, server *process.Process, work comparison) error {
	if !work.stored || work.onDisk {
		return nil
	}
	c, err := s.clientsFor(ctx, server, work)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for left := pairBytes / int64(work.size); left > 0; {
		n, err := c.ask(settle)
		if err != nil {
			return fmt.Errorf("%s: %w", server.Name, err)
		}
		left -= n
	}
	return nil
}

// clientsFor connects to a server for a work. Each miss is for a page that neither program was ever
// asked for; those that seem sighted before, as fp_rate lets some be, are stored.
func (s *scene) clientsFor(ctx context.Context, p *process.Process, work comparison) (*clients, error) {
	if work.misses {
		mark := missMark
		if work.stored {
			mark = storedMark
		}
		return s.dialMisses(serverOf(p, mark), work.size)
	}
	at := serverOf(p, hitMark)
	if err := at.fill(ctx, work.size); err != nil {
		return nil, err
	}
	c, err := s.dialHits(at, work.size)
	if err != nil || !work.uploaded {
		return c, err
	}
	if err := c.upload(freshPage(work.size).upload(p.Address)); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, errors.Join(err, c.Close()))
	}
	return c, nil
}

// spent is what a server has used for so many answers.
type spent struct {
	contender
	time    time.Duration
	answers int64
}

// more asks for d.
func (s *spent) more(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	used, n, err := s.spend(ctx, d)
	s.time += used
	s.answers += n
	return err
}

// each is the CPU time of one answer, in microseconds.
func (s *spent) each() float64 { return float64(s.time.Nanoseconds()) / 1000 / float64(s.answers) }

// printRows writes the table: medians, and the interval of the median ratio.
func (o options) printRows(w io.Writer, all []comparison, text, bare, edge string) error {
	t := figures.Table{Right: true, Text: text}
	t.Row("work", bare, edge, "median ratio", "95 % interval", "least", "most")
	for _, c := range all {
		ours, bares := c.medians()
		low, high := c.interval()
		least, most := c.extremes()
		t.Rowf("%s\t%.2f µs\t%.2f µs\t%.3f\t%.3f to %.3f\t%.3f\t%.3f", c.name(), bares, ours, c.ratio(), low, high, least, most)
	}
	return t.Write(w)
}

// judgePairs names the works that are above the limit.
func (o options) judgePairs(all []comparison) error {
	var errs []error
	for _, c := range all {
		if r := c.ratio(); r > o.maxRatio {
			low, high := c.interval()
			errs = append(errs, fmt.Errorf("a %s costs %.3f times that of the base (%.3f to %.3f), must be at most %.3f",
				c.name(), r, low, high, o.maxRatio))
		}
	}
	return errors.Join(errs...)
}
