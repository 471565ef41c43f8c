package main

import (
	"context"
	"fmt"
	"path/filepath"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// requests are those of one workload, in memory.
type requests struct {
	objects  []trace.Object
	accesses []trace.Access
	unique   int64 // bytes of all objects

	lifetimes []model.Lifetime // of the objects; nil: none expires
}

// workload is a trace, a model that trace generates, or one that is made here.
type workload struct {
	name  string
	path  string // in the folder of the traces
	model string // what makes a model of the file, and what it is told
	make  func() *requests
}

func workloads() []workload {
	const popularity = "akamai-tc-popularity.txt"
	return []workload{
		{name: "adaptsize", path: "adaptsize.tr"},
		{name: "nasa", path: "nasa-1995-08-01.tsv"},
		{name: "may-2015", path: "apache-combined-2015.log"},
		{name: "akamai-even", path: popularity, model: ",arrivals=even,objects=50000"},
		{name: "akamai-bursty", path: popularity, model: ",arrivals=bursty,objects=50000"},
		{name: "shifts", make: shifts},
		{name: "scans", make: scans},
		{name: "two-sizes", make: twoSizes},
		{name: "days", make: days},
		{name: "lifetimes", make: lifetimes},
	}
}

// shares are the sizes of the caches, in percent of the unique bytes.
func shares() []float64 { return []float64{1, 5, 20} }

// load reads w; traces is the folder.
func (w workload) load(ctx context.Context, traces string) (*requests, error) {
	if w.make != nil {
		return w.make(), nil
	}
	path := filepath.Join(traces, w.path)
	if w.model != "" {
		path = "popularity:" + path + w.model
	}
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
