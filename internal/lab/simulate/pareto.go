package simulate

import (
	"cmp"
	"slices"
)

// markPareto marks the results on the Pareto front: no other result has as few writes
// and as high a byte hit ratio, and is better in one of the two. Equal results are all
// marked.
func markPareto(results []Result) {
	order := make([]*Result, len(results))
	for i := range results {
		order[i] = &results[i]
	}
	slices.SortStableFunc(order, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(a.Writes, b.Writes), cmp.Compare(b.ByteHitRatio, a.ByteHitRatio))
	})
	// With writes rising, a result is on the front exactly if it has more byte
	// hits than all that write less.
	var last *Result // the latest on the front, so the one with the most byte hits
	for _, r := range order {
		equal := last != nil && r.Writes == last.Writes && r.ByteHitRatio == last.ByteHitRatio
		r.Pareto = last == nil || equal || r.ByteHitRatio > last.ByteHitRatio
		if r.Pareto {
			last = r
		}
	}
}
