package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"edgeproxy/internal/lab/process"
)

// work does what the options ask for. The error says what is wrong with edgeproxy, or
// with the run.
func (o *options) work(ctx context.Context, stdout, stderr io.Writer) error {
	if o.docs {
		return writeDocument(o.root, stdout)
	}
	s, err := o.open(ctx, stderr)
	if err != nil {
		return err
	}
	return process.WithEdge(ctx, o.root, o.edge, func(edge string) error {
		t, err := o.set(ctx, s, edge)
		if err != nil {
			return err
		}
		return errors.Join(o.play(ctx, t, stdout), t.Close())
	})
}

// open finds the suite, or installs it.
func (o *options) open(ctx context.Context, stderr io.Writer) (*suite, error) {
	if err := haveNode("node"); err != nil {
		return nil, err
	}
	dir := o.suite
	if dir == "" {
		var err error
		if dir, err = install(ctx, o.cache); err != nil {
			return nil, err
		}
	}
	return openSuite(ctx, o.root, dir, stderr)
}

// set starts edgeproxy once for each policy.
func (o *options) set(ctx context.Context, s *suite, edge string) (*trial, error) {
	work := filepath.Join(o.cache, "conformance")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fmt.Errorf("make a place for logs: %w", err)
	}
	t := &trial{suite: s, request: request{Parallel: o.parallel, Seconds: int(o.limit / time.Second)}}
	pols := policies()
	if o.trace {
		t.request.Trace = o.only
		pols = pols[:1] // two at a time could not be told apart
	}
	for _, pol := range pols {
		r, err := newRig(ctx, s, pol, edge, o.root, work)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.rigs = append(t.rigs, r)
	}
	return t, nil
}

// play plays what is asked for, and reports.
func (o *options) play(ctx context.Context, t *trial, stdout io.Writer) error {
	if o.only != nil {
		return o.playOnly(ctx, t, stdout)
	}
	expected, err := readExpected(o.root, t.suite.Edition)
	if err != nil {
		return err
	}
	begin := time.Now()
	outcomes, err := t.all(ctx, expected, stdout)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "http-cache-tests %s (%s) under each policy, %d s\n\n", t.suite.Version, t.suite.Edition, int(time.Since(begin).Seconds()))
	printTable(stdout, outcomes[0])
	if o.failing {
		printFailing(stdout, outcomes[0])
	}
	if err := agree(stdout, outcomes); err != nil {
		return err
	}
	if o.update {
		return o.keep(t.suite, expected, outcomes[0], stdout)
	}
	return judge(stdout, expected, outcomes[0])
}

// playOnly plays single tests with what they depend on.
func (o *options) playOnly(ctx context.Context, t *trial, stdout io.Writer) error {
	ids, err := t.suite.closure(o.only)
	if err != nil {
		return err
	}
	outcomes, err := t.play(ctx, ids)
	if err != nil {
		return err
	}
	for i, r := range t.rigs {
		fmt.Fprintf(stdout, "policy %s\n", r.policy.name)
		for _, res := range outcomes[i] {
			if res.outcome != untested {
				fmt.Fprintln(stdout, describe(res))
			}
		}
		if o.trace {
			fmt.Fprintf(stdout, "the origin's side: %s\n", r.origin.file.Name())
		}
	}
	return nil
}

// keep makes the outcomes the expected ones.
func (o *options) keep(s *suite, expected, outcomes []result, stdout io.Writer) error {
	d := compare(expected, outcomes)
	printDifference(stdout, &d)
	name := expectedFile(o.root, s.Edition)
	if err := os.WriteFile(name, formatExpected(s.Edition, s.Version, outcomes), 0o644); err != nil {
		return fmt.Errorf("keep the outcomes: %w", err)
	}
	fmt.Fprintf(stdout, "wrote %s\n", name)
	return writeDocument(o.root, stdout)
}
