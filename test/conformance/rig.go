package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"edgeproxy/internal/lab/process"
)

// policy is a way to admit, and what the suite's URLs need to be stored on the
// first request of a test.
type policy struct {
	name string
	warm int // requests for each URL, or variant, before its test
}

// policies are those that must agree.
func policies() []policy {
	return []policy{{"always", 0}, {"second-hit", 1}}
}

// rig is an origin of the suite and an edgeproxy before it.
type rig struct {
	suite  *suite
	policy policy
	origin *logged
	edge   *logged
}

// newRig starts both. Their logs are in work.
func newRig(ctx context.Context, s *suite, pol policy, edge, root, work string) (*rig, error) {
	r := &rig{suite: s, policy: pol}
	var err error
	r.origin, err = s.startOrigin(ctx, filepath.Join(work, "origin-"+pol.name+".log"))
	if err != nil {
		return nil, err
	}
	r.edge, err = startEdge(ctx, edge, root, filepath.Join(work, "edge-"+pol.name+".log"), pol.name, r.origin.Address)
	if err != nil {
		return nil, errors.Join(err, r.origin.Close())
	}
	return r, nil
}

// startEdge starts edgeproxy with the suite's configuration.
func startEdge(ctx context.Context, program, root, log, policy, origin string) (*logged, error) {
	return start(ctx, log, process.Command{
		Name: "edgeproxy", Path: program, Args: []string{"serve", "-c", filepath.Join(root, "test", "conformance", "edgeproxy.yaml"), "--policy", policy},
		Env: []string{"SUITE_ORIGIN=http://" + origin}, Finds: process.EdgeAddress,
	})
}

// logged is a server whose output goes to a file.
type logged struct {
	*process.Process
	file *os.File
}

// start runs a server and returns once it has said its address.
func start(ctx context.Context, log string, c process.Command) (*logged, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	c.Output = file
	p, err := process.Start(c)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	l := &logged{p, file}
	if err := p.AwaitAddress(ctx); err != nil {
		_ = l.Close() // what went wrong is known
		return nil, fmt.Errorf("%w\nsee %s", err, log)
	}
	return l, nil
}

// Close ends the server and waits for it.
func (l *logged) Close() error {
	err := l.Process.Close()
	_ = l.file.Close() // a log that is not whole changes no result
	return err
}

// play runs tests through the proxy and scores them. What is not among ids is
// untested.
func (r *rig) play(ctx context.Context, q request) ([]result, error) {
	q.Base = "http://" + r.edge.Address
	q.Warm = r.policy.warm
	answers, err := r.suite.run(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("policy %s (logs: %s, %s): %w", r.policy.name, r.edge.file.Name(), r.origin.file.Name(), err)
	}
	return score(r.suite.Tests, answers), nil
}

// Close stops both and waits for them.
func (r *rig) Close() error {
	return errors.Join(r.edge.Close(), r.origin.Close())
}
