package main

import (
	"context"
	"fmt"
	"strings"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/workload"
)

// cell is one cache under one rule.
type cell struct {
	trace string
	share float64 // the size of the cache, in percent of the unique bytes
	stage float64 // a share of the cache, in percent
	rule  policy.Rule
}

// row is what one length made of one cache.
type row struct {
	cell
	length fit.Length // zero for always

	requests int64
	outcome
}

// workloads lists what is played: the usual ones and two laws of popularity. The models have as many requests as the traces
// have, or a few times more.
func workloads() []workload.Workload {
	return append(workload.Usual(),
		workload.Workload{Name: "zipf-0.9", Path: "zipf:objects=20000,requests=300000,exponent=0.9"},
		workload.Workload{Name: "zipf-1.1", Path: "zipf:objects=20000,requests=300000,exponent=1.1"})
}

// always is the rule that the writes are compared with.
var always = policy.Rule{Policy: policy.Always}

// rules are those whose windows are tried.
func rules() []policy.Rule {
	out := []policy.Rule{{Policy: policy.SecondHit}}
	for more := 1; more <= 4; more++ {
		out = append(out, policy.Rule{Policy: policy.Counting, MoreThan: more})
	}
	return out
}

// shipped returns the length that the proxy takes for a rule.
func shipped(r policy.Rule) fit.Length {
	if r.Policy == policy.Counting {
		return fit.Counting(r.MoreThan)
	}
	return fit.SecondHit()
}

// shares are the sizes of the caches that the multiples are tried in; smallShares
// those of the floors, which matter to small ones alone.
func shares() []float64      { return []float64{1, 5, 20} }
func smallShares() []float64 { return []float64{0.25, 0.5, 1} }

// stages are the sizes of the stage, in percent of the cache.
func stages() []float64 { return []float64{0, 10} }

// with returns l changed.
func with(l fit.Length, change func(*fit.Length)) fit.Length {
	change(&l)
	return l
}

// awaited returns how many sightings a rule waits for before the one that it stores. The window of counting is
// so many times as long.
func awaited(r policy.Rule) int64 { return max(int64(r.MoreThan), 1) }

// multiples are those tried, each with the floor that is shipped.
func multiples(r policy.Rule) (out []fit.Length) {
	for _, m := range []int64{1, 2, 3, 4, 5, 6, 8, 16} {
		out = append(out, with(shipped(r), func(l *fit.Length) { l.PerObject = m * awaited(r) }))
	}
	return out
}

// floors are those tried, each with the multiple that is shipped.
func floors(r policy.Rule) (out []fit.Length) {
	for _, n := range []int64{1, 25, 50, 100, 150, 200, 250, 300, 400, 800} {
		out = append(out, with(shipped(r), func(l *fit.Length) { l.Least = n * awaited(r) }))
	}
	return out
}

// each returns the length of r for each sighting that its rule waits for.
func (r *row) each() fit.Length {
	return with(r.length, func(l *fit.Length) {
		l.PerObject /= awaited(r.rule)
		l.Least /= awaited(r.rule)
	})
}

// sweep plays everything through caches of w; small asks for the floors in place of the
// multiples.
func (r requests) sweep(ctx context.Context, w workload.Workload, small bool) (out []row, err error) {
	sizes, lengths := shares(), multiples
	if small {
		sizes, lengths = smallShares(), floors
	}
	for _, share := range sizes {
		for _, stage := range stages() {
			out = append(out, tried(cell{trace: w.Name, share: share, stage: stage}, lengths)...)
		}
	}
	for i := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i].requests = int64(len(r.Accesses))
		if out[i].outcome, err = r.play(out[i].cell, out[i].length); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tried returns what is tried in the cache c, without the outcomes: always, and each rule with each of its lengths.
func tried(c cell, lengths func(policy.Rule) []fit.Length) []row {
	c.rule = always
	out := []row{{cell: c}}
	for _, c.rule = range rules() {
		for _, l := range lengths(c.rule) {
			out = append(out, row{cell: c, length: l})
		}
	}
	return out
}

// columns are those of the table.
const columns = "trace\tshare\tstage\tpolicy\tmore_than\tper_object\tleast\tdistinct\tkeys\trequests\thits\twrites\tobjects"

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
	return fmt.Sprintf("%s\t%g\t%g\t%s\t%d\t%d\t%d\t%g\t%g\t%d\t%d\t%d\t%d", r.trace, r.share, r.stage, r.rule.Policy, r.rule.MoreThan,
		r.length.PerObject, r.length.Least, r.length.Distinct, r.length.Keys, r.requests, r.hits, r.writes, r.objects)
}
