package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// A run has fallen behind when it took this much longer than its schedule: both
// the share and the time, as a short run may end late by chance.
const (
	behindShare = 0.05
	behindTime  = time.Second
)

// runAll runs the policies one after the other, so that they do not disturb each
// other, and returns the report. Whatever it started has ended when it returns.
func runAll(ctx context.Context, p *plan, stderr io.Writer) (doc *document, err error) {
	dir, err := os.MkdirTemp("", "edgeproxy-loadtest-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := p.edgeproxy
	if program == "" {
		if program, err = buildEdge(ctx, dir); err != nil {
			return nil, err
		}
	}
	doc = newDocument(p)
	for _, policy := range p.policies {
		r := policyRun{plan: p, policy: policy, program: program, dir: dir, stderr: stderr}
		if err := r.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", policy, err)
		}
		doc.add(p, &r)
	}
	return doc, nil
}

// policyRun is one policy's part of the test: what it needs, and what came out.
type policyRun struct {
	*plan
	policy, program, dir string
	stderr               io.Writer

	counts   counts
	tally    *tally
	took     time.Duration
	warnings []string
}

func (r *policyRun) run(ctx context.Context) (err error) {
	o, err := startOrigin(r.replay, r.maxAge, r.seed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	config := r.edgeSettings(r.policy)
	config.origin = o.addr
	e, err := startEdge(ctx, r.program, r.dir, config)
	if err != nil {
		return err
	}
	// The proxy goes before its origin: then no request is cut behind it.
	defer func() {
		closeErr := e.Close()
		if err != nil {
			err = errors.Join(err, closeErr)
		} else if closeErr != nil {
			r.warnings = append(r.warnings, closeErr.Error())
		}
	}()
	if err := r.measure(ctx, e); err != nil {
		return err
	}
	r.judge(o)
	return nil
}

// measure replays the trace between two looks at the metrics.
func (r *policyRun) measure(ctx context.Context, e *edge) error {
	ctx, stop := e.watch(ctx)
	defer stop()
	before, err := e.before(ctx)
	if err != nil {
		return err
	}
	if r.tally, err = r.drive(ctx, e); err != nil {
		return fmt.Errorf("%w\n%s", err, e.log.String())
	}
	after, err := e.settled(ctx, before.requests+r.tally.requests())
	if err != nil {
		return err
	}
	r.counts = after.since(before)
	return nil
}

func (r *policyRun) drive(ctx context.Context, e *edge) (*tally, error) {
	var dialer net.Dialer
	d := &driver{
		replay: r.replay, host: e.config.listen, rate: r.rate, connections: r.connections, pause: pause,
		dial: func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", e.config.listen) },
	}
	m := newMeter(r.stderr, r.policy, r.facts.Requests, &d.done)
	defer m.Close()
	start := time.Now()
	t, err := d.run(ctx)
	r.took = time.Since(start)
	return t, err
}

// judge writes down what makes the figures doubtful.
func (r *policyRun) judge(o *origin) {
	warn := func(format string, args ...any) { r.warnings = append(r.warnings, fmt.Sprintf(format, args...)) }
	for _, d := range r.counts.disagreements(r.tally, o) {
		warn("%s", d)
	}
	if n := o.unknown.Load(); n > 0 {
		warn("the origin was asked %d times for something that is not in the trace", n)
	}
	if n := r.counts.passed; n > 0 {
		warn("edgeproxy passed %d requests by the cache, though all objects are storable", n)
	}
	if r.tally.errors > 0 {
		warn("%d responses failed, the first: %s", r.tally.errors, r.tally.samples[0])
	}
	planned := time.Duration(float64(r.tally.requests()-1) / r.rate * float64(time.Second))
	if over := r.took - planned; over > behindTime && over.Seconds() > behindShare*planned.Seconds() {
		warn("fell behind: took %s instead of %s, %d requests sent late (at worst by %s); latencies include that wait",
			r.took.Round(time.Millisecond), planned.Round(time.Millisecond), r.tally.late, r.tally.worstLate.Round(time.Millisecond))
	}
}
