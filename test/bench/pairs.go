package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
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
func (o options) measurePairs(ctx context.Context, stdout io.Writer) (err error) {
	origin, err := startOrigin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, origin.Close()) }()
	all := slices.DeleteFunc(pairWorks(), func(c comparison) bool { return !o.only.MatchString(c.name()) })
	if len(all) == 0 {
		return fmt.Errorf("--only %s: no work of pairs is called so", o.only)
	}
	for i := range o.rounds {
		if err := o.pairOnce(ctx, origin, i%2 == 1, all); err != nil {
			return fmt.Errorf("pair %d: %w", i+1, err)
		}
	}
	if err := o.printPairs(stdout, all); err != nil {
		return err
	}
	return o.judgePairs(all)
}

// pairOnce starts both programs, for each start has its own luck with memory, fills them with
// the same pages, and measures one after the other.
func (o options) pairOnce(ctx context.Context, origin *originServer, turned bool, all []comparison) (err error) {
	dir, err := os.MkdirTemp("", "edgeproxy-pairs-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	programs := [2]string{o.base, o.program}
	var servers [roles][2]*process
	var pids []int
	for n := range programs {
		if turned {
			n = 1 - n
		}
		for r := range roles {
			if !slices.ContainsFunc(all, func(c comparison) bool { return c.role() == r }) {
				continue
			}
			if servers[r][n], err = r.start(ctx, diskEdge{programs[n], origin.address, dir, "disk" + strconv.Itoa(n), noMemory}); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, servers[r][n].Close()) }()
			pids = append(pids, servers[r][n].pid())
		}
	}
	unpin, err := pinServers(pids)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	for i := range all {
		p, err := o.alternate(ctx, servers[all[i].role()], all[i], turned)
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

// start starts an edgeproxy; e says which, and where its disk is.
func (r role) start(ctx context.Context, e diskEdge) (*process, error) {
	switch r {
	case asFullDisk:
		return startFullDisk(ctx, e)
	case asStoring:
		return e.startWith(fmt.Sprintf("cache: {memory: {max_bytes: %dB}}", pairBytes))
	case asWriting:
		e.name, e.memory = e.name+"-writing", ""
		return e.start()
	case asUsual, roles:
	}
	return startEdge(e.program, e.origin)
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
func (o options) alternate(ctx context.Context, servers [2]*process, work comparison, turned bool) (p pair, err error) {
	order := [2]int{0, 1}
	if turned { // the one that connects first may have larger congestion windows
		order = [2]int{1, 0}
	}
	for _, i := range order {
		if err := o.fillFor(ctx, servers[i], work); err != nil {
			return p, err
		}
	}
	var both [2]spent
	for _, i := range order {
		server := servers[i]
		s, err := o.subject(ctx, server, work)
		if err != nil {
			return p, err
		}
		defer func() { _ = s.Close() }() // of connections: nothing to lose
		if _, err = s.ask(settle); err != nil {
			return p, fmt.Errorf("%s: %w", server.name, err)
		}
		both[i].subject = s
	}
	for n := range 2 * max(1, int(o.roundTime/slice)) {
		which := n % 2
		if n/2%2 == 1 != turned { // A B B A
			which = 1 - which
		}
		if err := both[which].more(ctx, min(slice, o.roundTime)); err != nil {
			return p, err
		}
	}
	return pair{bare: both[0].each(), edge: both[1].each()}, nil
}

// fillFor fills the memory of a server where a work is of misses that are stored there. Its connections are closed: by the time the other
// server's cache is full, the server might have closed them.
func (o options) fillFor(ctx context.Context, server *process, work comparison) error {
	if !work.stored || work.onDisk {
		return nil
	}
	s, err := o.subject(ctx, server, work)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.askFor(pairBytes/int64(work.size), settle); err != nil {
		return fmt.Errorf("%s: %w", server.name, err)
	}
	return nil
}

// subject connects to a server for a work. Each miss is for a page that neither program was ever
// asked for; those that seem sighted before, as fp_rate lets some be, are stored.
func (o options) subject(ctx context.Context, server *process, work comparison) (*subject, error) {
	if !work.misses {
		s, err := o.connect(ctx, server, work.size, hitMark)
		if err != nil || !work.uploaded {
			return s, err
		}
		if err := s.upload(freshPage(work.size).upload(server.address)); err != nil {
			return nil, fmt.Errorf("%s: %w", server.name, errors.Join(err, s.Close()))
		}
		return s, nil
	}
	mark := missMark
	if work.stored {
		mark = storedMark
	}
	c, err := dial(server.address, o.connections, nil, wanted{size: work.size, mark: mark})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.name, err)
	}
	c.fresh = func() []byte { return freshPage(work.size).request(server.address) }
	return &subject{c, server}, nil
}

// askFor asks until so many answers have come, by turns of d.
func (s *subject) askFor(answers int64, d time.Duration) error {
	for answers > 0 {
		n, err := s.ask(d)
		if err != nil {
			return err
		}
		answers -= n
	}
	return nil
}

// spent is what a subject has used for so many answers.
type spent struct {
	*subject
	time    time.Duration
	answers int64
}

// more asks for d.
func (s *spent) more(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	before, err := cpuTime(s.server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	n, err := s.ask(d)
	if err != nil {
		return fmt.Errorf("%s: %w", s.server.name, err)
	}
	after, err := cpuTime(s.server.cmd.Process.Pid)
	s.time += after - before
	s.answers += n
	return err
}

// each is the CPU time of one answer, in microseconds.
func (s *spent) each() float64 { return float64(s.time.Nanoseconds()) / 1000 / float64(s.answers) }

// printPairs writes the table: medians, and the interval of the median ratio.
func (o options) printPairs(w io.Writer, all []comparison) error {
	_, err := fmt.Fprintf(w, "Over loopback: CPU time per request of two programs, %d pairs of %v each, in turn,\n"+
		"both started anew for each pair, %d connections of HTTP/1.1, GOMAXPROCS=1.\n\n", o.rounds, o.roundTime, o.connections)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\tbase\tedgeproxy\tmedian ratio\t95 % interval\tleast\tmost\t")
	return printRows(t, all)
}

// printRows writes a row for each of them, and flushes t.
func printRows(t *tabwriter.Writer, all []comparison) error {
	for _, c := range all {
		low, high := c.interval()
		least, most := c.extremes()
		fmt.Fprintf(t, "%s\t%.2f µs\t%.2f µs\t%.3f\t%.3f to %.3f\t%.3f\t%.3f\t\n", c.name(),
			median(c.pairs, func(p pair) float64 { return p.bare }),
			median(c.pairs, func(p pair) float64 { return p.edge }),
			c.ratio(), low, high, least, most)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// judgePairs names the works that are above the limit.
func (o options) judgePairs(all []comparison) error {
	var errs []error
	for _, c := range all {
		if r := c.ratio(); r > o.maxRatio {
			low, high := c.interval()
			errs = append(errs, fmt.Errorf("a %s costs %.3f times that of the base (%.3f to %.3f), want at most %.3f",
				c.name(), r, low, high, o.maxRatio))
		}
	}
	return errors.Join(errs...)
}

// interval is a 95 % confidence interval of the median ratio. Its ends are two of the ratios
// that were measured, counted from either end, so it needs no assumption about their
// distribution. Fewer than six pairs give no such interval; then its ends are the extremes.
func (c comparison) interval() (low, high float64) {
	ratios := make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		ratios[i] = p.edge / p.bare
	}
	slices.Sort(ratios)
	k := rank(len(ratios))
	return ratios[k-1], ratios[len(ratios)-k]
}

// rank returns the largest k, at least 1, for which the median lies between the k-th of n sorted
// values and the k-th from the end with a probability of 0.95. Each value is below the median
// with a probability of one half, so the number of those below is binomial.
func rank(n int) int {
	const miss = 0.05 / 2 // at either end
	ways, below := 1.0, 0.0
	for range n {
		ways /= 2
	}
	for k := 0; k < n/2; k++ { // ways that k of n are below
		if below += ways; below > miss {
			return max(k, 1)
		}
		ways *= float64(n-k) / float64(k+1)
	}
	return max(n/2, 1)
}
