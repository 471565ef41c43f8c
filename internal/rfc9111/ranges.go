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

// String returns the kind in one word, for logs and tests.
func (k RangeKind) String() string {
	switch k {
	case RangeNone:
		return "none"
	case RangeSatisfiable:
		return "satisfiable"
	case RangeUnsatisfiable:
		return "unsatisfiable"
	}
	return "unknown"
}

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
	const unit = "bytes="
	value = trim(value)
	if len(value) < len(unit) || !equalFold(value[:len(unit)], unit) || size < 0 {
		return 0, 0, RangeNone
	}
	spec := value[len(unit):]
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
