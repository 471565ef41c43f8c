package main

import (
	"context"
	"fmt"
	"math"

	"edgeproxy/internal/fit"
	"edgeproxy/internal/trace"
)

// The policies, and the number of sightings that each wants.
const (
	always    = "always"
	secondHit = "second-hit"
	counting  = "counting"
)

func wanted(policy string) int {
	switch policy {
	case secondHit:
		return 2
	case counting:
		return 5
	}
	return 1
}

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

// play sends the requests through a cache of so many bytes under a policy, whose
// generations are as long as length says.
func (r *requests) play(bytes int64, policy string, length fit.Length) outcome {
	var o outcome
	cache, seen := newLRU(r.objects, bytes), newSightings(len(r.objects))
	c := fit.New(bytes, cache.held)
	need := wanted(policy)
	for _, a := range r.accesses {
		i := a.Object
		times := seen.see(i)
		if seen.over(length, c.Objects()) {
			seen.rotate()
		}
		switch {
		case cache.hit(i):
			o.hits++
		case !cache.fits(i):
		case times < need:
			c.HeldBack(r.objects[i].Size)
		default:
			cache.store(i)
			o.writes++
			c.Admitted(r.objects[i].Size)
		}
	}
	o.objects = c.Objects()
	return o
}
