package rfc9111

import (
	"math"

	"edgeproxy/internal/field"
)

// Part is what a 206 holds of a representation: a range of Size bytes in all
// (RFC 9110 section 14.4), 0 <= First <= Last < Size. A Range of a request means
// the same bytes for a stored part as for the whole: ParseRange takes Size, and
// Holds says whether they are there.
type Part struct {
	Range
	Size int64
}

// PartOf returns the part that the Content-Range of a 206 says. Ok is false unless
// it is one valid range of bytes of a known size: a response with several parts, or
// of a size that is not known, cannot be used for another range.
func PartOf(h field.List) (p Part, ok bool) {
	v, ok := single(h, "Content-Range")
	if !ok {
		return Part{}, false
	}
	const unit = "bytes "
	if len(v) < len(unit) || !equalFold(v[:len(unit)], unit) {
		return Part{}, false
	}
	v = v[len(unit):]
	dash, slash := index(v, '-'), index(v, '/')
	if dash > slash || slash == len(v) {
		return Part{}, false
	}
	first, okFirst := digits(v[:dash], math.MaxInt64)
	last, okLast := digits(v[min(dash+1, slash):slash], math.MaxInt64)
	size, okSize := digits(v[slash+1:], math.MaxInt64)
	if !okFirst || !okLast || !okSize || first > last || last >= size || size == math.MaxInt64 {
		return Part{}, false
	}
	return Part{Range: Range{First: first, Last: last}, Size: size}, true
}

// Whole reports whether the part is all there is.
func (p Part) Whole() bool { return p.Length() == p.Size }

// Holds reports whether all of the ranges, as ParseRange or AppendRanges found them
// for p.Size, lie within the part; without a range, whether the part is the whole.
// If so it can answer the request, a range r with the bytes from r.First-p.First to
// r.Last-p.First of its own. Holds does not allocate.
func (p Part) Holds(ranges ...Range) bool {
	for _, r := range ranges {
		if r.First < p.First || r.Last > p.Last {
			return false
		}
	}
	return len(ranges) > 0 || p.Whole()
}

// Join returns what p and q hold together. Ok is false if there is a gap between
// them, or the whole is not of one size. Parts may be joined only if SameStrongly
// holds for the responses that they come from (RFC 9111 section 3.4); their header
// is then that of the newer one, by Update.
func (p Part) Join(q Part) (joined Part, ok bool) {
	if q.First < p.First {
		p, q = q, p
	}
	if p.Size != q.Size || q.First > p.Last+1 {
		return Part{}, false
	}
	p.Last = max(p.Last, q.Last)
	return p, true
}

// SameStrongly reports whether two responses are certainly parts of the same
// bytes: they have the same strong entity tag, or, without any tag, the same
// Last-Modified and both strong (RFC 9110 section 8.8.1).
func SameStrongly(a, b Representation) bool {
	if a.ETag != "" || b.ETag != "" {
		_, weak, ok := parseTag(a.ETag)
		return ok && !weak && a.ETag == b.ETag
	}
	return a.StrongDate && b.StrongDate && a.LastModified.Equal(b.LastModified)
}
