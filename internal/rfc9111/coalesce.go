package rfc9111

// Coalesce joins the ranges that overlap and returns what is left, in the order
// asked for: a joined range stands where the first of its parts stood. A server may
// do so, and sends no byte twice then (RFC 9110 section 15.3.7.2). Ranges that only
// touch stay apart.
//
// It works within ranges, which is not to be used afterwards, and allocates
// nothing. The time it takes is quadratic in the number of ranges, which
// AppendRanges limits.
func Coalesce(ranges []Range) []Range {
	apart := ranges[:0]
	for _, r := range ranges {
		apart = absorb(apart, r)
	}
	return apart
}

// absorb adds r to ranges that do not overlap each other, so that they still do
// not. What overlaps r before it is joined with something is all that does after.
func absorb(apart []Range, r Range) []Range {
	kept, place := apart[:0], -1
	for _, s := range apart {
		if !s.overlaps(r) {
			kept = append(kept, s)
			continue
		}
		r = Range{First: min(r.First, s.First), Last: max(r.Last, s.Last)}
		if place < 0 {
			place = len(kept)
			kept = append(kept, s)
		}
	}
	if place < 0 {
		return append(kept, r)
	}
	kept[place] = r
	return kept
}

func (r Range) overlaps(s Range) bool { return r.First <= s.Last && s.First <= r.Last }
