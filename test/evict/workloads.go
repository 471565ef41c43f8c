package main

import (
	"context"

	"edgeproxy/internal/lab/workload"
)

// requests are the requests of one workload.
type requests struct{ *workload.Requests }

// workloads are the usual ones, and those that are made here.
func workloads() []workload.Workload {
	return append(workload.Usual(),
		workload.Workload{Name: "shifts", Make: shifts},
		workload.Workload{Name: "scans", Make: scans},
		workload.Workload{Name: "two-sizes", Make: twoSizes},
		workload.Workload{Name: "days", Make: days},
		workload.Workload{Name: "lifetimes", Make: lifetimes},
	)
}

// shares are the sizes of the caches, in percent of the unique bytes.
func shares() []float64 { return []float64{1, 5, 20} }

func load(ctx context.Context, w workload.Workload, traces string) (requests, error) {
	r, err := w.Load(ctx, traces)
	return requests{r}, err
}
