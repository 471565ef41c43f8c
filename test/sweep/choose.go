package main

import (
	"cmp"
	"math"
	"slices"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
)

const (
	// nearMean and nearWorst are how many points of hits a multiple may lie below the best one tried, mostly the longest, which
	// writes nearly twice as much: in the mean of the caches, and in any of them.
	nearMean, nearWorst = 0.8, 4.5

	// freeHits and freeWrites are what a floor may cost: points of hits more than the best floor tried, in the mean, and
	// times as many writes as the floor with the fewest.
	freeHits, freeWrites = 0.1, 1.15
)

// verdict is how one length did over all caches that it was tried in.
type verdict struct {
	length fit.Length // for each sighting that a rule waits for
	mean   float64    // points of hits below the best length tried
	worst  float64    // the same, where that is most
	at     row        // where that is
	writes float64    // share of those of always: the geometric mean
	caches float64
}

// points is the hit ratio in percent.
func (r *row) points() float64 { return 100 * float64(r.hits) / float64(r.requests) }

// judge weighs the lengths of some rules against one another. rows has each of them in every cache, and always.
func judge(rows []row, rules ...policy.Rule) []verdict {
	best, stored := map[cell]float64{}, map[cell]int64{}
	for i := range rows {
		r := &rows[i]
		best[r.cell] = max(best[r.cell], r.points())
		if r.rule == always {
			stored[r.cell] = r.writes
		}
	}
	var out []verdict
	for i := range rows {
		r := &rows[i]
		if !slices.Contains(rules, r.rule) {
			continue
		}
		at := slices.IndexFunc(out, func(v verdict) bool { return v.length == r.each() })
		if at < 0 {
			at = len(out)
			out = append(out, verdict{length: r.each(), worst: -1})
		}
		out[at].add(r, best[r.cell]-r.points(), float64(stored[cell{r.trace, r.share, r.stage, always}]))
	}
	for i := range out {
		out[i].mean /= out[i].caches
		out[i].writes = math.Exp(out[i].writes / out[i].caches)
	}
	return out
}

// add counts a row that is so many points below the best one; always wrote so many objects.
func (v *verdict) add(r *row, below, stored float64) {
	if below > v.worst {
		v.worst, v.at = below, *r
	}
	v.mean += below
	v.writes += math.Log(float64(max(r.writes, 1)) / stored)
	v.caches++
}

// chooseMultiple picks by the rule: of the multiples that are near the best of those tried, in the mean and where that
// is least so, the one that writes least; where there is none, the one whose mean is best.
func chooseMultiple(tried []verdict) verdict {
	good := slices.DeleteFunc(slices.Clone(tried), func(v verdict) bool { return v.mean > nearMean || v.worst > nearWorst })
	if len(good) > 0 {
		return slices.MinFunc(good, func(a, b verdict) int { return cmp.Compare(a.writes, b.writes) })
	}
	return slices.MinFunc(tried, func(a, b verdict) int { return cmp.Compare(a.mean, b.mean) })
}

// chooseFloor picks the largest floor that is next to free, or the one with the fewest writes if none is: it is for caches of a few
// objects, smaller than any tried, from whose requests nothing could be learnt without it.
func chooseFloor(tried []verdict) verdict {
	least := slices.MinFunc(tried, func(a, b verdict) int { return cmp.Compare(a.mean, b.mean) })
	fewest := slices.MinFunc(tried, func(a, b verdict) int { return cmp.Compare(a.writes, b.writes) })
	good := slices.DeleteFunc(slices.Clone(tried), func(v verdict) bool {
		return v.mean > least.mean+freeHits || v.writes > fewest.writes*freeWrites
	})
	if len(good) == 0 {
		return fewest
	}
	return slices.MaxFunc(good, func(a, b verdict) int { return cmp.Compare(a.length.Least, b.length.Least) })
}
