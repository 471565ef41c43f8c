package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/process"
)

// outcome is what an eviction made of a workload.
type outcome struct {
	requests, requestBytes int64
	hits, hitBytes         int64
	writes, writeBytes     int64
	validations            int64
	cpu                    time.Duration // spent on all requests, in user mode
}

// column is what each eviction made of a workload, in the order of evictions.
type column struct {
	workload string
	outcomes []outcome
}

// evictions returns all that are compared. The others are compared with the first.
func evictions() []model.Eviction {
	out := []model.Eviction{model.Ristretto}
	for _, e := range model.Evictions() {
		if e != model.Ristretto {
			out = append(out, e)
		}
	}
	return out
}

// column plays r with all evictions in a cache of a share of the unique bytes, in percent, of which a share is the stage.
func (r requests) column(ctx context.Context, workload string, share, stage float64) (column, error) {
	c := column{workload: workload}
	bytes := r.Bytes(share)
	for _, e := range evictions() {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		o, err := r.play(setting(e, bytes, int64(float64(bytes)*stage/100)))
		if err != nil {
			return c, fmt.Errorf("%s with %s: %w", workload, e, err)
		}
		c.outcomes = append(c.outcomes, o)
	}
	return c, nil
}

// setting is a cache under second-hit, as the proxy has it, or one that knows the future and decides itself what it stores.
func setting(e model.Eviction, bytes, stage int64) model.Setting {
	if e == model.Clairvoyant {
		return model.Setting{Rule: policy.Rule{Policy: policy.Always}, CapacityBytes: bytes, MaxObjectBytes: largest(bytes), Eviction: e}
	}
	return model.Setting{
		Rule: policy.Rule{Policy: policy.SecondHit}, Generations: 2, Fitted: true, FalsePositiveRate: 0.01,
		CapacityBytes: bytes, StageBytes: stage, MaxObjectBytes: largest(bytes - stage), Eviction: e,
	}
}

// play sends the requests through a cache.
func (r requests) play(s model.Setting) (outcome, error) {
	run, err := model.NewOf(s, r.input(s.Eviction))
	if err != nil {
		return outcome{}, err
	}
	defer run.Close()
	runtime.GC() // so that what others left is not collected on this account
	before, _ := process.TimeOfSelf()
	run.Requests(r.Accesses)
	after, _ := process.TimeOfSelf()
	m := run.Result()
	return outcome{
		requests: m.Requests, requestBytes: m.RequestBytes, hits: m.Hits, hitBytes: m.HitBytes, writes: m.Writes, writeBytes: m.WriteBytes, validations: m.Validations,
		cpu: after - before,
	}, nil
}

// input is what a cache with this eviction knows beforehand.
func (r requests) input(e model.Eviction) model.Input {
	in := model.Input{Objects: r.Objects, Lifetimes: r.Lifetimes}
	if e == model.Clairvoyant {
		in.Future = model.NewFuture(len(r.Objects), int64(len(r.Accesses)))
		in.Future.Add(r.Accesses)
	}
	return in
}

// largest is the bytes of the largest object that is stored in a main part, as in the proxy.
func largest(bytes int64) int64 { return bytes / 4 }
