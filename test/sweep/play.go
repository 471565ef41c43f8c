package main

import (
	"context"
	"fmt"
	"math"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/workload"
)

// requests are the requests of one workload.
type requests struct{ *workload.Requests }

func load(ctx context.Context, w workload.Workload, traces string) (requests, error) {
	r, err := w.Load(ctx, traces)
	return requests{r}, err
}

// outcome is what came of the requests.
type outcome struct{ hits, writes, objects int64 } // objects: C at the end

// play sends the requests through the proxy's memory tier, with sightings in sets, in place of filters that err. The
// generations of the window are as long as length says.
func (r requests) play(c cell, length fit.Length) (outcome, error) {
	bytes := r.Bytes(c.share)
	run, err := model.New(model.Setting{
		Rule: c.rule, Generations: 2, Fitted: c.rule.Policy.Remembers(), Length: length, Exact: true,
		CapacityBytes: bytes, StageBytes: int64(math.Round(float64(bytes) * c.stage / 100)), Eviction: model.SizeAware,
	}, r.Objects)
	if err != nil {
		return outcome{}, fmt.Errorf("%s in %g %% of %s: %w", name(c.rule), c.share, c.trace, err)
	}
	defer run.Close()
	run.Requests(r.Accesses)
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
