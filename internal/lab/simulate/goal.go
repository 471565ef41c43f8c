package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"edgeproxy/internal/admission/policy"
)

// Goal is what a recommendation optimizes.
type Goal uint8

// The goals; the zero value is the default.
const (
	Balanced     Goal = iota // few writes that cost few hits
	FewestWrites             // few writes, whatever they cost
	MostHits                 // many hits, whatever they cost

	goals
)

// What balanced gives up for fewer writes, compared with the best: points of the
// hit ratio, and the share by which the origin sends more, in responses and in bytes.
// Up to a hit ratio of 80 % the points are the narrower bound. At 98 % one point is
// half of what the origin sends, so the share is narrower.
const (
	balancedPoints = 0.02
	balancedMore   = 0.10
)

// String returns the goal as the flag takes it.
func (g Goal) String() string {
	return [goals]string{Balanced: "balanced", FewestWrites: "fewest_writes", MostHits: "most_hits"}[g]
}

// Goals returns the names that ParseGoal takes, the default in the middle.
func Goals() []string {
	return []string{FewestWrites.String(), Balanced.String(), MostHits.String()}
}

// ParseGoal reads a goal's name.
func ParseGoal(text string) (Goal, error) {
	for g := range goals {
		if text == g.String() {
			return g, nil
		}
	}
	return 0, fmt.Errorf("must be %s", strings.Join(Goals(), ", "))
}

// Rule describes what the goal selects, for a reader.
func (g Goal) Rule() string {
	switch g {
	case FewestWrites:
		return "the fewest writes, whatever that costs in hits"
	case MostHits:
		return "the highest hit ratio, whatever that costs in writes"
	default:
		return fmt.Sprintf("the fewest writes of the settings within %.0f points of the highest hit ratio under which the origin sends "+
			"at most %.0f%% more than the least, in responses and in bytes", 100*balancedPoints, 100*balancedMore)
	}
}

// choose returns the index of the result that the goal selects, and how many results
// meet its rule. It selects among the results that were asked for and have the evidence.
// They are compared with the best of all, which may be a baseline that nobody asked for.
// If no result meets the rule of balanced, near is 0, and it selects the most hits. The
// index is -1 if no result is eligible, or none has a hit.
func (g Goal) choose(results []Result) (index, near int) {
	var all, within []int
	for i := range results {
		if !results[i].eligible() {
			continue
		}
		all = append(all, i)
		if g != Balanced || balanced(results, &results[i]) {
			within = append(within, i)
		}
	}
	if !slices.ContainsFunc(all, func(i int) bool { return results[i].Hits > 0 }) {
		return -1, 0
	}
	order := g.order
	if len(within) == 0 {
		within, order = all, MostHits.order
	} else {
		near = len(within)
	}
	// A window that fits itself to any cache is better than numbers that fit this log only.
	if fitted := slices.DeleteFunc(slices.Clone(within), func(i int) bool { return !results[i].rotation.fitsItself() }); g == Balanced && len(fitted) > 0 {
		within = fitted
	}
	return slices.MinFunc(within, func(i, j int) int { return order(&results[i], &results[j]) }), near
}

// eligible reports whether r may be recommended. never is not: it is no cache.
func (r *Result) eligible() bool {
	return !r.onlyBaseline && !r.Thin && r.Policy != policy.Never.String()
}

// order puts the better of two first.
func (g Goal) order(a, b *Result) int {
	fewer, more := cmp.Compare(a.Writes, b.Writes), cmp.Compare(b.Hits, a.Hits)
	if g == MostHits {
		fewer, more = more, fewer
	}
	return cmp.Or(fewer, more, cmp.Compare(a.OriginBytes, b.OriginBytes))
}

// balanced reports whether r gives up no more than balanced may, compared with the best
// of the baseline and the settings with evidence.
func balanced(results []Result, r *Result) bool {
	hits, responses, bytes := r.Hits, r.OriginRequests, r.OriginBytes
	for i := range results {
		o := &results[i]
		if o.Thin && !o.Baseline {
			continue
		}
		hits, responses, bytes = max(hits, o.Hits), min(responses, o.OriginRequests), min(bytes, o.OriginBytes)
	}
	return float64(r.Hits) >= float64(hits)-balancedPoints*float64(r.Requests) &&
		float64(r.OriginRequests) <= (1+balancedMore)*float64(responses) && float64(r.OriginBytes) <= (1+balancedMore)*float64(bytes)
}
