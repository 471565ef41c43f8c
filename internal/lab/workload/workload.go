// Package workload answers one question: which requests are the tables of evictions and of windows about?
//
// Usual lists the traces, which lie outside the project, and the models of one of them. Load takes one into memory, to be played many
// times.
package workload

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// Workload is a trace, a model that trace generates, or one that is made.
type Workload struct {
	Name string
	Path string           // in the folder of the traces; "zipf:…" is in none
	Make func() *Requests // in place of Path; nil is none
}

// Model reports whether its requests are made up.
func (w Workload) Model() bool { return w.Make != nil || strings.Contains(w.Path, ":") }

// Usual returns the traces, and the models whose objects have the counts and sizes of a content delivery network.
func Usual() []Workload {
	const popularity = "popularity:akamai-tc-popularity.txt,objects=50000,arrivals="
	return []Workload{
		{Name: "adaptsize", Path: "adaptsize.tr"},
		{Name: "nasa", Path: "nasa-1995-08-01.tsv"},
		{Name: "may-2015", Path: "apache-combined-2015.log"},
		{Name: "akamai-even", Path: popularity + "even"},
		{Name: "akamai-bursty", Path: popularity + "bursty"},
	}
}

// Requests are the requests of one workload, in memory. They are not changed by those that play them.
type Requests struct {
	Objects  []trace.Object
	Accesses []trace.Access
	Unique   int64 // bytes of all objects

	Lifetimes []model.Lifetime // indices are those of Objects; nil: none expires
}

// Bytes returns a share of the unique bytes, in percent.
func (r *Requests) Bytes(share float64) int64 {
	return int64(math.Round(float64(r.Unique) * share / 100))
}

// Load reads w; traces is the folder.
func (w Workload) Load(ctx context.Context, traces string) (*Requests, error) {
	if w.Make != nil {
		return w.Make(), nil
	}
	path := filepath.Join(traces, w.Path)
	if scheme, file, ok := strings.Cut(w.Path, ":"); ok {
		path = w.Path
		if scheme == "popularity" {
			path = scheme + ":" + filepath.Join(traces, file)
		}
	}
	t, err := trace.Read(ctx, []string{path}, trace.Options{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = t.Close() }() // it is read to the end, or given up
	r := &Requests{Objects: t.Objects()}
	for _, o := range r.Objects {
		r.Unique += o.Size
	}
	if r.Accesses, err = t.All(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}
