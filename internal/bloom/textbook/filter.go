package textbook

import "fmt"

// Filter is the textbook Bloom filter: m bits, k probes a key, anywhere in the
// array. Nothing can be taken out but everything at once. With n keys it
// reports an unseen one at the rate
//
//	(1 - (1-1/m)^(kn))^k  ~  (1 - e^(-kn/m))^k
//
// (Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM
// 13(7), 1970), which are ExactRate and FalsePositiveRate.
//
// Add, Has, Keys, Fill, Bytes, Clear, Union and AppendBinary are safe for
// concurrent use and take no lock; Intersect, Halved and UnmarshalBinary say
// what they need. An Add that has returned is seen by every Add and Has that
// starts later. Of several simultaneous first Adds of a key at least one is
// told that the key was new; all of them may be.
//
// The zero Filter is for UnmarshalBinary only.
type Filter struct{ array }

// NewFilter returns an empty filter of m bits and k probes by RuleEnhanced, of
// seed 0. It panics as NewFilterWith does; Size gives m and k for a wanted rate.
func NewFilter(m uint64, k int) *Filter { return NewFilterWith(Params{Cells: m, Probes: k}) }

// NewFilterWith returns an empty filter. It panics where p is out of the bounds
// that Params states; ParamsFor gives one that is not.
func NewFilterWith(p Params) *Filter {
	mustBe(p, kindFilter)
	f := &Filter{}
	f.shape(kindFilter, p)
	return f
}

// Union puts every key of other into f. It is exact: the OR of the arrays is
// what f would be had other's keys been added to it. Where the parameters
// differ nothing is done and the error joins a *MismatchError for each.
//
// It may run beside any call of either filter but Intersect and UnmarshalBinary;
// keys added to other meanwhile may be in or not.
func (f *Filter) Union(other *Filter) error { return f.union(&other.array) }

// Intersect keeps in f what other holds too: the AND of the arrays. Every key
// that was in both is still found, and the rate is at most the smaller one of
// the two, but it may keep bits that a filter made of the common keys alone
// would not have. Errors are those of Union.
//
// No Add, Union or Clear of f may run beside it: a key being added might be
// lost. Calls of other, and Has, may.
func (f *Filter) Intersect(other *Filter) error { return f.intersect(&other.array) }

// Halved returns a new filter of half the bits that holds the same keys: the OR
// of the halves of f, with every probe taken modulo m/2. Its rate is that of a
// filter of m/2 bits with as many keys, and it is, bit by bit, the one that
// Params.Folds describes. m must be even and at least 2 MinCells, else the error
// is an *OptionError. f stays as it is; a key being added to it meanwhile may be
// in or not.
func (f *Filter) Halved() (*Filter, error) {
	half := &Filter{}
	if err := f.halveInto(&half.array); err != nil {
		return nil, err
	}
	return half, nil
}

// UnmarshalBinary replaces f by what AppendBinary or MarshalBinary of a Filter
// returned. Where the error, a *DecodeError, is not nil f stays as it was. data
// is not kept. Nothing else may use f meanwhile.
func (f *Filter) UnmarshalBinary(data []byte) error { return f.decode(kindFilter, data) }

// mustBe panics where p is no filter of kind k.
func mustBe(p Params, k kind) {
	if err := p.validate(k); err != nil {
		panic(fmt.Sprintf("bloom: new %v: %v", k, err))
	}
}
