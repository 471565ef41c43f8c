package textbook

import (
	"fmt"
	"math"
	"math/bits"

	"edgeproxy/internal/bloom"
)

// union ORs other into a, word by word.
func (a *array) union(other *array) error {
	if err := a.params.match(other.params); err != nil {
		return fmt.Errorf("union of two filters: %w", err)
	}
	before, theirs, added := a.keys.Load(), other.keys.Load(), int64(0)
	for i := range a.words {
		more := other.words[i].Load()
		if more&^a.words[i].Load() == 0 {
			continue
		}
		old := a.words[i].Or(more)
		added += int64(bits.OnesCount64(more &^ old))
	}
	if added == 0 {
		return nil // nothing in other that is not here
	}
	ones := a.ones.Add(added)
	// Added rather than stored, so that no Add beside this is forgotten.
	a.keys.Add(within(a.keysAt(ones), max(before, theirs), before+theirs) - before)
	return nil
}

// intersect ANDs other into a, word by word, and finds the number of common
// keys as n(A) + n(B) - n(A or B), each estimated from its fill (Swamidass and
// Baldi, "Mathematical correction for fingerprint similarity measures", J.
// Chem. Inf. Model. 47(3), 2007). The fill of the AND alone would count the
// bits that both have by chance.
func (a *array) intersect(other *array) error {
	if err := a.params.match(other.params); err != nil {
		return fmt.Errorf("intersection of two filters: %w", err)
	}
	var mine, theirs, either, gone int64
	for i := range a.words {
		keep := other.words[i].Load()
		old := a.words[i].And(keep)
		mine += int64(bits.OnesCount64(old))
		theirs += int64(bits.OnesCount64(keep))
		either += int64(bits.OnesCount64(old | keep))
		gone += int64(bits.OnesCount64(old &^ keep))
	}
	a.ones.Add(-gone)
	common := a.keysAt(mine) + a.keysAt(theirs) - a.keysAt(either)
	a.keys.Store(within(common, 0, min(a.keys.Load(), other.keys.Load())))
	return nil
}

// keysAt estimates the keys of an array with so many bits set.
func (a *array) keysAt(ones int64) float64 {
	all := a.bits()
	return bloom.KeysFromFill(float64(ones)/float64(all), all, a.k)
}

// within rounds an estimate and holds it in [low, high]. An array that is all
// ones has no estimate (+Inf, or NaN for a difference of them): then it is high.
func within(estimate float64, low, high int64) int64 {
	if math.IsNaN(estimate) || estimate >= float64(high) {
		return high
	}
	return max(int64(math.Round(estimate)), low)
}
