package rfc9111

// Coalesce joins ranges that overlap. The result is in the requested order; a
// joined range takes the place of the first of its parts. A server may do so, and
// then sends no byte twice (RFC 9110 section 15.3.7.2). Ranges that only touch are
// not joined.
//
// It works in place and allocates nothing. The caller must not use ranges
// afterwards. It takes time quadratic in the number of ranges, which AppendRanges
// limits.
func Coalesce(ranges []Range) []Range {
	apart := ranges[:0]
	for _, r := range ranges {
		apart = absorb(apart, r)
	}
	return apart
}

// absorb adds r to apart, ranges that do not overlap each other, and keeps that so.
// One pass is enough: a join never makes r overlap another range that it did not
// overlap before.
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
