package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"edgeproxy/internal/model"
	"edgeproxy/internal/policy"
)

// outcome is what an eviction made of a workload.
type outcome struct {
	requests, requestBytes int64
	hits, hitBytes         int64
	writes, writeBytes     int64
	each                   time.Duration // CPU time of a request; 0: not measured
}

// column is what each eviction made of a workload, in the order of evictions.
type column struct {
	workload string
	outcomes []outcome
}

// clairvoyant is the name of the eviction that knows the future.
const clairvoyant = "clairvoyant"

// evictions returns the names of all that are compared. The others are compared with the first.
func evictions() []string {
	out := []string{string(model.Ristretto)}
	for _, e := range model.Evictions() {
		if e != model.Ristretto {
			out = append(out, string(e))
		}
	}
	return append(out, clairvoyant)
}

// column plays r with all evictions in a cache of a share of the unique bytes, in percent, of which a share is the stage.
func (r *requests) column(ctx context.Context, workload string, share, stage float64) (column, error) {
	c := column{workload: workload}
	bytes := int64(math.Round(float64(r.unique) * share / 100))
	for _, e := range evictions() {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		if e == clairvoyant {
			c.outcomes = append(c.outcomes, r.foresee(bytes))
			continue
		}
		o, err := r.play(model.Eviction(e), bytes, int64(float64(bytes)*stage/100))
		if err != nil {
			return c, fmt.Errorf("%s with %s: %w", workload, e, err)
		}
		c.outcomes = append(c.outcomes, o)
	}
	return c, nil
}

// play sends the requests through a cache under second-hit, as the proxy has it.
func (r *requests) play(e model.Eviction, bytes, stage int64) (outcome, error) {
	run, err := model.New(model.Setting{
		Rule: policy.Rule{Policy: policy.SecondHit}, Generations: 2, Fitted: true, FalsePositiveRate: 0.01,
		CapacityBytes: bytes, StageBytes: stage, MaxObjectBytes: largest(bytes - stage), Eviction: e,
	}, r.objects)
	if err != nil {
		return outcome{}, err
	}
	defer run.Close()
	began := time.Now()
	run.Requests(r.accesses)
	took := time.Since(began)
	m := run.Result()
	return outcome{
		requests: m.Requests, requestBytes: m.RequestBytes, hits: m.Hits, hitBytes: m.HitBytes, writes: m.Writes, writeBytes: m.WriteBytes,
		each: took / time.Duration(max(m.Requests, 1)),
	}, nil
}

// largest is the bytes of the largest object that is stored in a main part, as in the proxy.
func largest(bytes int64) int64 { return bytes / 4 }
