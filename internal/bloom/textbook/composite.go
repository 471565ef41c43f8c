package textbook

// Set is a filter that a Composite can be made of: Filter and Partitioned are.
type Set interface {
	Add(hi, lo uint64) (was bool)
	Has(hi, lo uint64) bool
}

// Composite is a set that forgets single keys: "in A and not in B", where A
// holds the keys added and B, the secondary filter, those deleted.
//
// It pays with false negatives, which a Bloom filter alone does not have. With
// the rates a of A and b of B, both as filled:
//
//   - an unseen key is reported at the rate a (1-b), less than A alone,
//   - an added key that was not deleted is denied at the rate b,
//   - a deleted key is denied for certain, and can never be added again.
//
// b is therefore to be chosen as small as a lost key is dear; CompositeRates has
// the arithmetic. The rule is common lore, without a paper of its own; the rates
// follow from Bloom 1970 for filters that err independently. Two filters that
// are asked with the same hash do not quite, which only lowers the first rate,
// at most to a - b: there every key that B reports A reports too, as it is where
// the parameters of both are equal.
//
// Both filters may be shared and used beside the Composite. It is as safe for
// concurrent use as they are. A Delete beside an Add of the same key ends with
// the key deleted.
type Composite struct {
	added, deleted Set
}

// NewComposite returns the set of what is in added and not in deleted.
func NewComposite(added, deleted Set) *Composite {
	return &Composite{added: added, deleted: deleted}
}

// Add puts a key in and reports whether it will be found: false where it was
// deleted before, or is denied by mistake, so that a false negative is known to
// the one who adds it. Later Deletes of other keys may still deny it.
func (c *Composite) Add(hi, lo uint64) (found bool) {
	c.added.Add(hi, lo)
	return !c.deleted.Has(hi, lo)
}

// Delete takes a key out for good and reports whether it was found until now. A
// key that was not is left alone: putting it into the secondary filter would
// only deny others.
func (c *Composite) Delete(hi, lo uint64) bool {
	if !c.added.Has(hi, lo) {
		return false
	}
	return !c.deleted.Add(hi, lo)
}

// Has reports whether a key was added and not deleted, with the errors that
// Composite states.
func (c *Composite) Has(hi, lo uint64) bool {
	return c.added.Has(hi, lo) && !c.deleted.Has(hi, lo)
}

// CompositeRates returns the errors of a Composite from the rates of its two
// filters, each in [0, 1]: falsePositive = a (1-b) for unseen keys and
// falseNegative = b for keys that were added and not deleted.
func CompositeRates(a, b float64) (falsePositive, falseNegative float64) {
	return a * (1 - b), b
}
