package textbook

// Partitioned is a Bloom filter of k rows of m bits: the i-th probe of a key
// falls into the i-th row and nowhere else (Mullin, "A second look at Bloom
// filters", CACM 26(8), 1983; the scheme of Kirsch and Mitzenmacher, ESA 2006,
// section 3). With n keys it reports an unseen one at the rate
//
//	(1 - (1-1/m)^n)^k  ~  (1 - e^(-n/m))^k
//
// which are ExactPartitionedRate and PartitionedRate. The probes of a key never
// share a bit, so every key sets its k and the rows may be looked up side by
// side; the price is a rate that is higher by a hair than that of a Filter of
// the same k m bits.
//
// Concurrency is that of Filter. The zero Partitioned is for UnmarshalBinary
// only.
type Partitioned struct{ array }

// NewPartitioned returns an empty filter of k rows of m bits by RuleEnhanced, of
// seed 0. It panics as NewPartitionedWith does; PartitionedSize gives m and k
// for a wanted rate.
func NewPartitioned(m uint64, k int) *Partitioned {
	return NewPartitionedWith(Params{Cells: m, Probes: k})
}

// NewPartitionedWith returns an empty filter. It panics where p is out of the
// bounds that Params states, or its rows together are longer than MaxCells.
func NewPartitionedWith(p Params) *Partitioned {
	mustBe(p, kindPartitioned)
	f := &Partitioned{}
	f.shape(kindPartitioned, p)
	return f
}

// Union puts every key of other into f, as Filter.Union does.
func (f *Partitioned) Union(other *Partitioned) error { return f.union(&other.array) }

// Intersect keeps in f what other holds too, as Filter.Intersect does.
func (f *Partitioned) Intersect(other *Partitioned) error { return f.intersect(&other.array) }

// Halved returns a new filter of the same keys with rows of half the length,
// each the OR of the halves of the old one, as Filter.Halved does.
func (f *Partitioned) Halved() (*Partitioned, error) {
	half := &Partitioned{}
	if err := f.halveInto(&half.array); err != nil {
		return nil, err
	}
	return half, nil
}

// UnmarshalBinary replaces f by what AppendBinary or MarshalBinary of a
// Partitioned returned, as Filter.UnmarshalBinary does.
func (f *Partitioned) UnmarshalBinary(data []byte) error { return f.decode(kindPartitioned, data) }
