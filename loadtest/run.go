package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"edgeproxy/internal/lab/process"
)

// A run has fallen behind if it took longer than its schedule by more than this share
// and by more than this time. A short run may end late by chance.
const (
	behindShare = 0.05
	behindTime  = time.Second
)

// proxy is a caching proxy under test: an edgeproxy or a baseline.
type proxy interface {
	scraper
	address() string // host:port for requests
	Log() string     // the end of its own log
	Watch(ctx context.Context) (context.Context, context.CancelFunc)
	Close() error
}

// runAll runs the policies one after the other, so that they do not disturb each
// other, and returns the report. All that it started has ended when it returns.
func runAll(ctx context.Context, p *plan, stderr io.Writer) (doc *document, err error) {
	dir, err := os.MkdirTemp("", "edgeproxy-loadtest-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = process.WithEdge(ctx, ".", p.edgeproxy, func(program string) (err error) {
		if p.canForecast() {
			if p.forecasts, err = p.forecast(ctx, program); err != nil {
				return err
			}
		}
		var docs []*document
		for range p.runs {
			d, err := p.runOnce(ctx, program, dir, stderr)
			if err != nil {
				return err
			}
			docs = append(docs, d)
		}
		doc = meanReport(docs)
		return nil
	})
	return doc, err
}

// runOnce runs each policy once. dir is a folder for their files.
func (p *plan) runOnce(ctx context.Context, program, dir string, stderr io.Writer) (*document, error) {
	doc := newDocument(p)
	for _, r := range append(p.edges(program, dir, stderr), p.baselines(ctx, dir, stderr)...) {
		err := r.run(ctx)
		switch {
		case err == nil:
			doc.add(r)
		case r.optional && ctx.Err() == nil:
			doc.Warnings = append(doc.Warnings, fmt.Sprintf("%s is left out: %v", r.setting.policy, err))
		default:
			return nil, fmt.Errorf("%s: %w", r.setting.policy, err)
		}
	}
	return doc, nil
}

// edges returns the runs of edgeproxy's policies. dir is a folder for their files.
func (p *plan) edges(program, dir string, stderr io.Writer) []*policyRun {
	var out []*policyRun
	for _, policy := range p.policies {
		r := newRun(p, p.setting(policy), stderr)
		r.server = edgeServer
		r.start = func(ctx context.Context, o *origin) (proxy, error) {
			c := p.edgeSettings(policy)
			c.origin = o.addr
			if c.diskBytes == 0 {
				return startEdge(ctx, program, dir, c)
			}
			var err error
			if c.disk, err = newDiskFolder(dir, policy); err != nil {
				return nil, err
			}
			e, err := startEdge(ctx, program, dir, c)
			if err != nil {
				return nil, errors.Join(err, c.disk.Close())
			}
			return onDisk{e, c.disk}, nil
		}
		out = append(out, r)
	}
	return out
}

// policyRun is one policy's part of the test: its inputs and its results.
type policyRun struct {
	*plan
	setting     setting
	server      string // the proxy's name
	folder      string // with its files; "" = none
	start       func(context.Context, *origin) (proxy, error)
	noStoreOver int64 // bytes; for a proxy without a limit of its own, the origin marks larger objects
	optional    bool  // its failure does not end the test
	stderr      io.Writer

	counts      counts
	deviceBytes *int64   // bytes that its processes wrote to block devices; nil = unknown
	samples     []counts // taken during the run if curves are wanted; the first is zero
	sampleCost  sampleCost
	tally       *tally
	elapsed     time.Duration
	warnings    []string
}

func newRun(p *plan, s setting, stderr io.Writer) *policyRun {
	return &policyRun{plan: p, setting: s, stderr: stderr}
}

func (r *policyRun) run(ctx context.Context) (err error) {
	o, err := startOrigin(r.replay, r.maxAge, r.seed, r.noStoreOver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	e, err := r.start(ctx, o)
	if err != nil {
		return err
	}
	// Stop the proxy before its origin, so that the proxy loses no fetch.
	defer func() {
		closeErr := e.Close()
		r.recordDeviceBytes(e)
		if err != nil {
			err = errors.Join(err, closeErr)
		} else if closeErr != nil {
			r.warnings = append(r.warnings, closeErr.Error())
		}
	}()
	if err := r.measure(ctx, e); err != nil {
		return err
	}
	r.judge(o, e)
	return nil
}

// recordDeviceBytes records what e, which is closed, wrote to block devices.
func (r *policyRun) recordDeviceBytes(e proxy) {
	if p, ok := e.(writeReporter); ok && r.diskBytes > 0 {
		if n, ok := p.Written(); ok {
			r.deviceBytes = &n
		}
	}
}

// measure replays the trace, and takes the difference of the counts before and after.
func (r *policyRun) measure(ctx context.Context, e proxy) error {
	ctx, stop := e.Watch(ctx)
	defer stop()
	before, err := scrapeTolerant(ctx, e)
	if err != nil {
		return err
	}
	if r.html != "" {
		s := startSampler(ctx, e, sampleInterval(r.planned(r.facts.Requests)))
		err = r.drive(ctx, e)
		s.Close()
		r.keepSamples(s, before)
	} else {
		err = r.drive(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, e.Log())
	}
	after, err := settled(ctx, e, before.requests+r.tally.requests())
	if err != nil {
		return err
	}
	r.counts = after.since(before)
	return nil
}

// keepSamples copies the samples of s, as differences from before.
func (r *policyRun) keepSamples(s *sampler, before counts) {
	r.samples = append(r.samples, before.since(before))
	for _, c := range s.samples {
		r.samples = append(r.samples, c.since(before))
	}
	r.sampleCost = s.cost
	if s.err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("the curves have a gap: %v", s.err))
	}
}

func (r *policyRun) drive(ctx context.Context, e proxy) (err error) {
	var dialer net.Dialer
	d := &driver{
		replay: r.replay, host: e.address(), rate: r.rate, connections: r.connections, pause: pause,
		dial: func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", e.address()) },
	}
	m := newMeter(r.stderr, r.setting.policy, r.facts.Requests, &d.done)
	defer m.Close()
	start := time.Now()
	r.tally, err = d.run(ctx)
	r.elapsed = time.Since(start)
	return err
}
