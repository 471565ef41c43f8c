package rfc9111

import (
	"math"

	"edgeproxy/internal/http/field"
)

// Part is the range of a representation of Size bytes that a 206 contains (RFC 9110
// section 14.4), 0 <= First <= Last < Size. A Range of a request selects the same
// bytes of a stored part as of the whole: call ParseRange with Size, and Holds to
// learn whether the part has them.
type Part struct {
	Range
	Size int64
}

// PartOf returns the part that the Content-Range of a 206 describes. Ok is false
// unless it is one valid range of bytes of a known size. A response with several
// parts, or of unknown size, cannot answer another range.
func PartOf(h field.List) (p Part, ok bool) {
	v, ok := single(h, "Content-Range")
	if !ok {
		return Part{}, false
	}
	r, size, ok := contentRange(v)
	if !ok || size < 0 {
		return Part{}, false
	}
	return Part{Range: r, Size: size}, true
}

const bytesUnit = "bytes "

// inBytes reports whether a Content-Range has the unit bytes.
func inBytes(v string) bool {
	return len(v) >= len(bytesUnit) && equalFold(v[:len(bytesUnit)], bytesUnit)
}

// contentRange parses a Content-Range of bytes. The size is -1 if it is not known.
func contentRange(v string) (r Range, size int64, ok bool) {
	if !inBytes(v) {
		return Range{}, 0, false
	}
	v = v[len(bytesUnit):]
	dash, slash := index(v, '-'), index(v, '/')
	if dash > slash || slash == len(v) {
		return Range{}, 0, false
	}
	first, okFirst := digits(v[:dash], math.MaxInt64)
	last, okLast := digits(v[min(dash+1, slash):slash], math.MaxInt64)
	size, okSize := int64(-1), true
	if v[slash+1:] != "*" {
		size, okSize = digits(v[slash+1:], math.MaxInt64)
		okSize = okSize && last < size && size < math.MaxInt64
	}
	if !okFirst || !okLast || !okSize || first > last {
		return Range{}, 0, false
	}
	return Range{First: first, Last: last}, size, true
}

// AnswersRange reports whether the header of a 206 may be the answer to value, the only Range line of the request: its
// Content-Range begins where the range does and does not end behind it (RFC 9110 section 15.3.7), or is all there is. It
// reports true where that cannot be told, because the request does not ask for one range of bytes, or the response has
// another unit or no Content-Range.
func AnswersRange(value []byte, h field.List) bool {
	specs, ok := rangeSpecs(value)
	if !ok || !h.Has("Content-Range") {
		return true
	}
	v, ok := single(h, "Content-Range")
	switch {
	case !ok:
		return false // there are several
	case !inBytes(v):
		return true
	}
	r, size, ok := contentRange(v)
	return ok && (r.Length() == size || answersSpecs(specs, r, size))
}

// answersSpecs reports whether r, of a representation of size bytes, or -1, is what the ranges of a Range ask for.
func answersSpecs(specs []byte, r Range, size int64) bool {
	switch {
	case size >= 0:
	case len(specs) > 0 && specs[0] == '-':
		return true // the end of what is not known how long
	default:
		size = math.MaxInt64
	}
	first, last, kind := rangeOf(specs, size)
	return kind == RangeNone || kind == RangeSatisfiable && r.First == first && r.Last <= last
}

// Whole reports whether the part is the whole representation.
func (p Part) Whole() bool { return p.Length() == p.Size }

// Holds reports whether all of the ranges, as ParseRange or AppendRanges found them
// for p.Size, lie within the part; without a range, whether the part is the whole.
// If so, the part can answer the request. The bytes of a range r are at
// r.First-p.First to r.Last-p.First of the part. Holds does not allocate.
func (p Part) Holds(ranges ...Range) bool {
	for _, r := range ranges {
		if r.First < p.First || r.Last > p.Last {
			return false
		}
	}
	return len(ranges) > 0 || p.Whole()
}

// Join returns the part that p and q make together. Ok is false if there is a gap
// between them or their sizes differ. Parts may be joined only if SameStrongly is
// true of their responses (RFC 9111 section 3.4). The header of the joined part is
// the older one after Update by the newer one.
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

// SameStrongly reports whether two responses certainly are parts of the same bytes.
// They have the same strong entity tag, or, if neither has a tag, the same
// Last-Modified, strong in both (RFC 9110 section 8.8.1).
func SameStrongly(a, b Representation) bool {
	if a.ETag != "" || b.ETag != "" {
		_, weak, ok := parseTag(a.ETag)
		return ok && !weak && a.ETag == b.ETag
	}
	return a.StrongDate && b.StrongDate && a.LastModified.Equal(b.LastModified)
}
