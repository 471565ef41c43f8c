package main

import (
	"context"
	"fmt"
	"math"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// requests are those of one trace, in memory.
type requests struct {
	objects  []trace.Object
	accesses []trace.Access
	unique   int64 // bytes of all objects
}

// read takes a trace into memory: a file, or a model as simulate takes it.
func read(ctx context.Context, path string) (*requests, error) {
	t, err := trace.Read(ctx, []string{path}, trace.Options{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = t.Close() }() // it is read to the end, or given up
	r := &requests{objects: t.Objects()}
	for _, o := range r.objects {
		r.unique += o.Size
	}
	if r.accesses, err = t.All(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// bytes is a share of the unique ones, in percent.
func (r *requests) bytes(share float64) int64 {
	return int64(math.Round(float64(r.unique) * share / 100))
}

// outcome is what came of the requests.
type outcome struct{ hits, writes, objects int64 } // objects: C at the end

// play sends the requests through the proxy's memory tier, with sightings in sets, in place of filters that err. The
// generations of the window are as long as length says.
func (r *requests) play(c cell, length fit.Length) (outcome, error) {
	bytes := r.bytes(c.share)
	run, err := model.New(model.Setting{
		Rule: c.rule, Generations: 2, Fitted: c.rule.Policy.Remembers(), Length: length, Exact: true,
		CapacityBytes: bytes, StageBytes: int64(math.Round(float64(bytes) * c.stage / 100)), Eviction: model.SizeAware,
	}, r.objects)
	if err != nil {
		return outcome{}, fmt.Errorf("%s in %g %% of %s: %w", name(c.rule), c.share, c.trace, err)
	}
	defer run.Close()
	run.Requests(r.accesses)
	m := run.Result()
	return outcome{hits: m.Hits, writes: m.Writes, objects: m.WindowObjects}, nil
}

// name is a rule in a table: the policy, and what counting counts to.
func name(r policy.Rule) string {
	if r.Policy == policy.Counting {
		return fmt.Sprintf("%s-%d", r.Policy, r.MoreThan)
	}
	return r.Policy.String()
}
