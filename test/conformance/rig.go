package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	origin *process
	edge   *process
}

// newRig starts both. Their logs are in work.
func newRig(s *suite, pol policy, edge, root, work string) (*rig, error) {
	r := &rig{suite: s, policy: pol}
	var err error
	r.origin, err = s.startOrigin("the suite's origin", filepath.Join(work, "origin-"+pol.name+".log"))
	if err != nil {
		return nil, err
	}
	r.edge, err = startEdge(edge, root, filepath.Join(work, "edge-"+pol.name+".log"), pol.name, r.origin.address)
	if err != nil {
		return nil, errors.Join(err, r.origin.Close())
	}
	return r, nil
}

// startEdge starts edgeproxy with the suite's configuration.
func startEdge(program, root, log, policy, origin string) (*process, error) {
	cmd := exec.Command(program, "serve", "-c", filepath.Join(root, "test", "conformance", "edgeproxy.yaml"), "--policy", policy)
	cmd.Env = append(os.Environ(), "SUITE_ORIGIN=http://"+origin)
	return start("edgeproxy", log, edgeAddress, cmd)
}

// edgeAddress finds the address in a line of edgeproxy's log.
func edgeAddress(line []byte) string {
	var entry struct {
		Message   string   `json:"msg"`
		Addresses []string `json:"addresses"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Message != "serving" || len(entry.Addresses) == 0 {
		return ""
	}
	return entry.Addresses[0]
}

// play runs tests through the proxy and scores them. What is not among ids is
// untested.
func (r *rig) play(ctx context.Context, q request) ([]result, error) {
	q.Base = "http://" + r.edge.address
	q.Warm = r.policy.warm
	answers, err := r.suite.run(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("policy %s (logs: %s, %s): %w", r.policy.name, r.edge.log.Name(), r.origin.log.Name(), err)
	}
	return score(r.suite.Tests, answers), nil
}

// Close stops both and waits for them.
func (r *rig) Close() error {
	return errors.Join(r.edge.Close(), r.origin.Close())
}

// buildEdge compiles edgeproxy into work and returns the program's path.
func buildEdge(ctx context.Context, root, work string) (string, error) {
	work, err := filepath.Abs(work)
	if err != nil {
		return "", fmt.Errorf("build edgeproxy: %w", err)
	}
	path := filepath.Join(work, "edgeproxy")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/edgeproxy")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build edgeproxy: %w\n%s", err, out)
	}
	return path, nil
}
