package rfc9111

import "math"

// RangeKind says what a Range field asks of a representation.
type RangeKind uint8

const (
	// RangeNone: there is no usable Range. The whole representation is sent.
	RangeNone RangeKind = iota
	// RangeSatisfiable: the range is sent with 206.
	RangeSatisfiable
	// RangeUnsatisfiable: the field is valid, but selects no byte. 416 is sent.
	RangeUnsatisfiable
)

// ParseRange parses value, the only Range line of a GET, for a representation of
// size bytes (RFC 9110 section 14.1.2). First and last are the offsets of the first
// and the last byte of the range, 0 <= first <= last < size, if the kind is
// RangeSatisfiable, else 0.
//
// It accepts one range of the unit bytes: a-b, a- or -n. A value that is empty,
// malformed, of another unit or a list of ranges gives RangeNone: a server may
// ignore Range at any time (section 14.2). Several lines are a list of ranges. A
// suffix range of a representation without bytes is ignored too, since no
// Content-Range could describe it. ParseRange neither keeps value nor allocates.
func ParseRange(value []byte, size int64) (first, last int64, kind RangeKind) {
	specs, ok := rangeSpecs(value)
	if !ok || size < 0 {
		return 0, 0, RangeNone
	}
	return rangeOf(specs, size)
}

// Range is a part of a representation: the offsets of its first and last byte.
type Range struct{ First, Last int64 }

// Length returns the number of bytes, at least 1.
func (r Range) Length() int64 { return r.Last - r.First + 1 }

// AppendRanges is ParseRange for several ranges. If the kind is RangeSatisfiable,
// it appends the satisfiable ones to dst, in the requested order. Two or more need
// a multipart/byteranges response (RFC 9110 section 15.3.7.2), one does not.
//
// The kind is RangeNone if one range is malformed, if there are more than limit
// ranges, satisfiable or not, if there are more than two overlaps, or if the ranges
// together are longer than the whole. Such ranges are usually an attack (RFC 9110
// section 17.15), and the whole is the cheaper answer. AppendRanges allocates only
// if dst has to grow.
func AppendRanges(dst []Range, value []byte, size int64, limit int) ([]Range, RangeKind) {
	specs, ok := rangeSpecs(value)
	if !ok || size < 0 || len(specs) > 0 && isSpace(specs[0]) {
		return dst, RangeNone
	}
	start := len(dst)
	dst, asked, ok := appendList(dst, specs, size, limit)
	switch found := dst[start:]; {
	case !ok || asked == 0 || wasteful(found, size):
		return dst[:start], RangeNone
	case len(found) == 0:
		return dst, RangeUnsatisfiable
	}
	return dst, RangeSatisfiable
}

// appendList appends the satisfiable ranges of a list and counts all of them; ok is
// false if one is malformed or there are more than limit.
func appendList(dst []Range, specs []byte, size int64, limit int) (out []Range, asked int, ok bool) {
	for len(specs) > 0 {
		var spec []byte
		if spec, specs = cutMember(specs); len(spec) == 0 {
			continue
		}
		asked++
		first, last, kind := rangeOf(spec, size)
		if kind == RangeNone || asked > limit {
			return dst, asked, false
		}
		if kind == RangeSatisfiable {
			dst = append(dst, Range{First: first, Last: last})
		}
	}
	return dst, asked, true
}

// wasteful reports whether there are more than two overlaps, or the ranges together
// are longer than the whole. It takes time quadratic in their number, which the
// caller limits.
func wasteful(ranges []Range, size int64) bool {
	left, overlaps := size, 0
	for i, r := range ranges {
		if left -= r.Length(); left < 0 {
			return true
		}
		for _, s := range ranges[:i] {
			if r.overlaps(s) {
				overlaps++
			}
		}
	}
	return overlaps > 2
}

// rangeSpecs returns the ranges of value, the list after "bytes=".
func rangeSpecs(value []byte) (specs []byte, ok bool) {
	const unit = "bytes="
	value = trim(value)
	if len(value) < len(unit) || !equalFold(value[:len(unit)], unit) {
		return nil, false
	}
	return value[len(unit):], true
}

// rangeOf returns the bytes that one range selects.
func rangeOf(spec []byte, size int64) (first, last int64, kind RangeKind) {
	dash := index(spec, '-')
	if dash == len(spec) {
		return 0, 0, RangeNone
	}
	if dash == 0 {
		return suffixRange(spec[1:], size)
	}
	return intRange(spec[:dash], spec[dash+1:], size)
}

// suffixRange returns the last n bytes.
func suffixRange(n []byte, size int64) (first, last int64, kind RangeKind) {
	length, ok := digits(n, math.MaxInt64)
	switch {
	case !ok:
		return 0, 0, RangeNone
	case length == 0:
		return 0, 0, RangeUnsatisfiable
	case size == 0:
		return 0, 0, RangeNone
	}
	return max(size-length, 0), size - 1, RangeSatisfiable
}

// intRange returns the bytes from offset from up to offset to, or to the end if to is
// empty.
func intRange(from, to []byte, size int64) (first, last int64, kind RangeKind) {
	first, ok := digits(from, math.MaxInt64)
	if !ok {
		return 0, 0, RangeNone
	}
	last = math.MaxInt64
	if len(to) > 0 {
		if last, ok = digits(to, math.MaxInt64); !ok || last < first {
			return 0, 0, RangeNone
		}
	}
	if first >= size {
		return 0, 0, RangeUnsatisfiable
	}
	return first, min(last, size-1), RangeSatisfiable
}

// FirstOf returns the offset of the first byte that value, the only Range line of a
// GET, selects, as far as that is known without the size. It is 0 for a suffix range
// and for a value that is no valid range. Several reports that value lists more than
// one range; first is 0 then, since they may be in any order. FirstOf neither keeps
// value nor allocates.
func FirstOf(value []byte) (first int64, several bool) {
	specs, ok := rangeSpecs(value)
	if !ok {
		return 0, false
	}
	if index(specs, ',') < len(specs) {
		return 0, true
	}
	first, _, kind := rangeOf(specs, math.MaxInt64)
	if kind != RangeSatisfiable || len(specs) > 0 && specs[0] == '-' {
		return 0, false
	}
	return first, false
}

// AskedOf returns how many bytes value, the only Range line of a GET, asks for of a
// representation of size bytes: those of all its ranges together, and at most all there
// are. Ok is false if value is no valid range or has a malformed one, for then the whole
// is sent. AskedOf neither keeps value nor allocates.
func AskedOf(value []byte, size int64) (asked int64, ok bool) {
	specs, _ := rangeSpecs(value)
	for len(specs) > 0 {
		var spec []byte
		if spec, specs = cutMember(specs); len(spec) == 0 {
			continue
		}
		first, last, kind := rangeOf(spec, size)
		switch kind {
		case RangeNone:
			return 0, false
		case RangeSatisfiable:
			asked += min(last-first+1, size-asked)
		case RangeUnsatisfiable:
		}
		ok = true
	}
	return asked, ok
}
