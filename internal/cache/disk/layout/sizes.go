package layout

import (
	"math/bits"
)

// Sizes in bytes.
const (
	// Unit is what offsets of records are multiples of.
	Unit = 64
	// Page is the block of the file system and of direct writes.
	Page = 4096
	// LargeFrom is the length from which on a body belongs to a large segment.
	LargeFrom = 32 << 10
	// AlignFrom is the length from which on a body begins at a Page, as sendfile likes it.
	AlignFrom = 64 << 10
	// ChunkBytes is how much of a body one checksum covers.
	ChunkBytes = 64 << 10
	// MinSegment and MaxSegment bound the length of a segment. A record of its own may be longer.
	MinSegment = 256 << 10
	MaxSegment = 64 << 20
	// MaxKey and MaxBlock bound what a head has of the caller's.
	MaxKey   = 64 << 10
	MaxBlock = 1 << 20
	// MaxBody bounds a body.
	MaxBody = 64 << 30
)

// Kind says how the records of a segment lie.
type Kind uint8

// The kinds of segments.
const (
	Small Kind = 1 // packed, and dropped together
	Large Kind = 2 // on pages, and punched out one by one
)

// String returns the word for k.
func (k Kind) String() string {
	switch k {
	case Small:
		return "small"
	case Large:
		return "large"
	}
	return "unknown"
}

// KindOf returns the kind of segment for a body of so many bytes.
func KindOf(body int64) Kind {
	if body >= LargeFrom {
		return Large
	}
	return Small
}

// Align returns n rounded up to a multiple of to, a power of two.
func Align(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

// Class returns the size class of a record of n bytes, at most 63: three to each doubling.
func Class(n int64) uint8 {
	for c := classBelow(n); c < classes-1; c++ {
		if ClassBytes(c) >= n {
			return c
		}
	}
	return classes - 1
}

const classes = 64

// classBelow returns a class whose bytes are below n, or 0.
func classBelow(n int64) uint8 {
	if n <= Unit {
		return 0
	}
	c := 3 * (bits.Len64(uint64(n/Unit)) - 1) //nolint:gosec // n is above 0
	return uint8(min(c, classes-1))           //nolint:gosec // at least 0
}

// ClassBytes returns the length of the longest record of a class, a multiple of Unit; but the last
// class has all that are longer, too.
func ClassBytes(c uint8) int64 {
	base := int64(Unit) << (c / 3)
	return Align(base+base*[...]int64{0, 26, 59}[c%3]/100, Unit)
}
