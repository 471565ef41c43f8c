package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"edgeproxy/internal/fit"
)

// row is what one length made of one cache.
type row struct {
	trace  string
	share  float64 // of the unique bytes, in percent: the size of the cache
	policy string
	length fit.Length // zero for always

	requests int64
	outcome
}

// workload is a trace, or a model that is made up.
type workload struct {
	name  string
	path  string // before it the folder of the traces, where that is so
	below bool   // path lies in that folder
	model bool
}

// workloads lists what is played. The models have as many requests as the traces
// have, or a few times more.
func workloads() []workload {
	const popularity = "akamai-tc-popularity.txt"
	return []workload{
		{name: "adaptsize", path: "adaptsize.tr", below: true},
		{name: "nasa", path: "nasa-1995-08-01.tsv", below: true},
		{name: "apache", path: "apache-combined-2015.log", below: true},
		{name: "akamai-even", path: popularity + ",arrivals=even,objects=100000", below: true, model: true},
		{name: "akamai-bursty", path: popularity + ",arrivals=bursty,objects=100000", below: true, model: true},
		{name: "zipf-0.9", path: "zipf:objects=20000,requests=300000,exponent=0.9", model: true},
		{name: "zipf-1.1", path: "zipf:objects=20000,requests=300000,exponent=1.1", model: true},
	}
}

// load reads w; traces is the folder.
func (w workload) load(ctx context.Context, traces string) (*requests, error) {
	path := w.path
	if w.below {
		path = filepath.Join(traces, path)
		if w.model {
			path = "popularity:" + path
		}
	}
	return read(ctx, path)
}

// shipped returns the length that the proxy takes for a policy.
func shipped(policy string) fit.Length {
	if policy == counting {
		return fit.Counting()
	}
	return fit.SecondHit()
}

// shares are the sizes of the caches that the multiples are tried in; smallShares
// those of the floors, which matter to small ones alone.
func shares() []float64      { return []float64{1, 5, 20} }
func smallShares() []float64 { return []float64{0.25, 0.5, 1} }

// with returns l changed.
func with(l fit.Length, change func(*fit.Length)) fit.Length {
	change(&l)
	return l
}

// multiples are those tried, each with the floor that is shipped.
func multiples(policy string) []fit.Length {
	tried := []int64{1, 2, 3, 4, 5, 6, 8, 16}
	if policy == counting {
		tried = []int64{4, 8, 12, 16, 20, 24, 32, 48}
	}
	var out []fit.Length
	for _, m := range tried {
		out = append(out, with(shipped(policy), func(l *fit.Length) { l.PerObject = m }))
	}
	return out
}

// floors are those tried, each with the multiple that is shipped.
func floors(policy string) []fit.Length {
	tried := []int64{1, 50, 100, 200, 300, 400, 800}
	if policy == counting {
		tried = []int64{1, 200, 400, 600, 800, 1600, 3200}
	}
	var out []fit.Length
	for _, n := range tried {
		out = append(out, with(shipped(policy), func(l *fit.Length) { l.Least = n }))
	}
	return out
}

// sweep plays everything through caches of w; small asks for the floors in place of the
// multiples.
func (r *requests) sweep(w workload, small bool) []row {
	var out []row
	sizes, lengths := shares(), multiples
	if small {
		sizes, lengths = smallShares(), floors
	}
	for _, share := range sizes {
		add := func(policy string, l fit.Length) {
			out = append(out, row{
				trace: w.name, share: share, policy: policy, length: l,
				requests: int64(len(r.accesses)), outcome: r.play(r.bytes(share), policy, l),
			})
		}
		add(always, fit.Length{})
		for _, policy := range []string{secondHit, counting} {
			for _, l := range lengths(policy) {
				add(policy, l)
			}
		}
	}
	return out
}

// columns are those of the table.
const columns = "trace\tshare\tpolicy\tper_object\tleast\tdistinct\tkeys\trequests\thits\twrites\tobjects"

// text writes rows as lines of columns with tabs between them.
func text(rows []row) string {
	var b strings.Builder
	b.WriteString(columns + "\n")
	for i := range rows {
		b.WriteString(rows[i].line() + "\n")
	}
	return b.String()
}

func (r *row) line() string {
	return fmt.Sprintf("%s\t%g\t%s\t%d\t%d\t%g\t%g\t%d\t%d\t%d\t%d", r.trace, r.share, r.policy, r.length.PerObject, r.length.Least, r.length.Distinct,
		r.length.Keys, r.requests, r.hits, r.writes, r.objects)
}
