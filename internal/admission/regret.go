package admission

import (
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/sliding"
)

// regretRate is the false positive rate of each filter of a regret with every
// generation full. It bounds the error of a counter, not of an admission.
const regretRate = 0.01

// regret answers: was the fill before this one, of the same key and within the window, held back? Then the origin was
// asked again for a response that a cache that admits everything would have had.
//
// It is a Bloom filter with a second one for deletions, "in A and not in B" (like textbook.Composite, but sliding). A
// fill is regretted if its key is in held and not in stored; stored has the keys that were stored after they had been
// held back. An object that leaves the cache again and is fetched once more is no regret.
//
// Both slide with the window of the rule's own filter. What is in stored was in
// held before, and each is renewed with the other, so held never outlives
// stored. The errors, each at most regretRate while the generations hold what
// they are made for:
//
//   - a false positive of held: a first fill counts as regret;
//   - a false positive of stored: a regret is not counted;
//   - a key held back, stored, and held back again within one window is not
//     counted from then on. For second-hit this takes a sighting that is
//     forgotten before the fill that followed it; counting comes to it when the
//     older part of a count is forgotten.
//
// Simultaneous fills of one key may each miss the other.
type regret struct {
	held, stored *sliding.Filter
}

// regretOptions returns the sizes for a rule with the filter o. Every key sighted may be held back. Only part of them
// are stored later: in web traffic about a fifth to a half of the objects are requested again. If more are, the false
// positive rate of stored grows, which hides regret.
func regretOptions(o bloom.Options) (held, stored bloom.Options) {
	held = o
	held.FalsePositiveRate = regretRate
	stored = held
	stored.Capacity = (o.Capacity + 1) / 2
	return held, stored
}

// filled records a fill and reports whether the one before was held back.
func (r *regret) filled(hi, lo uint64, heldBack bool) bool {
	if heldBack {
		return r.held.Seen(hi, lo) && !r.stored.Has(hi, lo)
	}
	return r.held.Has(hi, lo) && !r.stored.Seen(hi, lo)
}
