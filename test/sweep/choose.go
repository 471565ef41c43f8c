package main

import (
	"cmp"
	"math"
	"slices"

	"edgeproxy/internal/fit"
)

const (
	// within is how many points of hits a multiple may lie below the best one tried, in
	// any cache.
	within = 2.0
	// free is how many more points than without a floor a floor may cost.
	free = 0.25
)

// verdict is how one length did over all caches that it was tried in.
type verdict struct {
	length fit.Length
	worst  float64 // points of hits below the best length tried, where that is most
	at     row     // where that is
	writes float64 // share of those of always: the geometric mean
}

// cell is one cache under one policy.
type cell struct {
	trace  string
	share  float64
	policy string
}

func (r *row) cell() cell { return cell{r.trace, r.share, r.policy} }

// points is the hit ratio in percent.
func (r *row) points() float64 { return 100 * float64(r.hits) / float64(r.requests) }

// judge weighs the lengths of one policy against one another. rows has each of them
// in every cache, and always.
func judge(rows []row, policy string) []verdict {
	best, stored := map[cell]float64{}, map[cell]int64{}
	for i := range rows {
		r := &rows[i]
		best[r.cell()] = max(best[r.cell()], r.points())
		if r.policy == always {
			stored[r.cell()] = r.writes
		}
	}
	var out []verdict
	sum := map[fit.Length]float64{}
	caches := map[fit.Length]float64{}
	for i := range rows {
		r := &rows[i]
		if r.policy != policy {
			continue
		}
		at := slices.IndexFunc(out, func(v verdict) bool { return v.length == r.length })
		if at < 0 {
			at = len(out)
			out = append(out, verdict{length: r.length, worst: -1})
		}
		if below := best[r.cell()] - r.points(); below > out[at].worst {
			out[at].worst, out[at].at = below, *r
		}
		sum[r.length] += math.Log(float64(max(r.writes, 1)) / float64(stored[cell{r.trace, r.share, always}]))
		caches[r.length]++
	}
	for i := range out {
		out[i].writes = math.Exp(sum[out[i].length] / caches[out[i].length])
	}
	return out
}

// chooseMultiple picks by the rule: of the multiples that are nowhere more than within
// points below the best of those tried, the one that writes least; where there is none,
// the one whose worst is best.
func chooseMultiple(tried []verdict) verdict {
	good := slices.DeleteFunc(slices.Clone(tried), func(v verdict) bool { return v.worst > within })
	if len(good) > 0 {
		return slices.MinFunc(good, func(a, b verdict) int { return cmp.Compare(a.writes, b.writes) })
	}
	return slices.MinFunc(tried, func(a, b verdict) int { return cmp.Compare(a.worst, b.worst) })
}

// chooseFloor picks the largest floor that is next to free: it is for caches of a few
// objects, smaller than any tried, from whose requests nothing could be learnt without it.
func chooseFloor(tried []verdict) verdict {
	least := slices.MinFunc(tried, func(a, b verdict) int { return cmp.Compare(a.worst, b.worst) })
	good := slices.DeleteFunc(slices.Clone(tried), func(v verdict) bool { return v.worst > least.worst+free })
	return slices.MaxFunc(good, func(a, b verdict) int { return cmp.Compare(a.length.Least, b.length.Least) })
}
