package rfc9111

import "math"

// RangeKind says what a Range field asks of a representation.
type RangeKind uint8

const (
	// RangeNone: nothing that counts. The whole representation is sent.
	RangeNone RangeKind = iota
	// RangeSatisfiable: the part found is sent with 206.
	RangeSatisfiable
	// RangeUnsatisfiable: the field is right and no byte fits it. 416 is sent.
	RangeUnsatisfiable
)

// ParseRange reads value, the only Range line of a GET, for a representation of
// size bytes (RFC 9110 section 14.1.2). First and last are the places of the
// first and the last byte asked for, 0 <= first <= last < size, when the kind is
// RangeSatisfiable, else 0.
//
// One range of the unit bytes counts: a-b, a- or -n. Absent, malformed, of
// another unit and several ranges are RangeNone: a server may ignore Range at any
// time (section 14.2), and several lines are several ranges. A suffix of a
// representation without bytes is ignored as well, since no Content-Range could
// describe it. ParseRange neither keeps value nor allocates.
func ParseRange(value []byte, size int64) (first, last int64, kind RangeKind) {
	specs, ok := rangeSpecs(value)
	if !ok || size < 0 {
		return 0, 0, RangeNone
	}
	return rangeOf(specs, size)
}

// Range is a part of a representation: the places of its first and last byte.
type Range struct{ First, Last int64 }

// Length returns the number of bytes, at least 1.
func (r Range) Length() int64 { return r.Last - r.First + 1 }

// AppendRanges is ParseRange for several ranges: it appends those that are
// satisfiable to dst, in the order asked for, when the kind is RangeSatisfiable.
// Two or more make a multipart/byteranges response (RFC 9110 section 15.3.7.2),
// one does not.
//
// One that is malformed spoils all. More than limit ranges, satisfiable or not,
// and ranges that overlap more than twice or are longer together than the whole
// are RangeNone: they are an attack more often than not (RFC 9110 section 17.15),
// and the whole is the cheaper answer. AppendRanges allocates only if dst has to
// grow.
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

// wasteful reports whether ranges overlap more than twice, or are longer together
// than the whole. The caller limits their number, whose square this takes.
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

// rangeSpecs returns what follows the unit bytes.
func rangeSpecs(value []byte) (specs []byte, ok bool) {
	const unit = "bytes="
	value = trim(value)
	if len(value) < len(unit) || !equalFold(value[:len(unit)], unit) {
		return nil, false
	}
	return value[len(unit):], true
}

// rangeOf finds the bytes that one range means.
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

// suffixRange finds the last n bytes.
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

// intRange finds the bytes from a place on, up to another if to is not empty.
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

// FirstOf returns the place of the first byte that value, the only Range line of a
// GET, asks for, as far as that is known without the size: 0 for the last n bytes and
// for what counts as no range. Several reports that it lists more than one range,
// whose order may be any. FirstOf neither keeps value nor allocates.
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
