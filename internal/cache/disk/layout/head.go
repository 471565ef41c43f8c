package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Version is that of the layout. A directory of another one is refused.
const Version = 1

// Reasons why bytes are refused.
var (
	// ErrForeign: the bytes are none of this directory's, or not what lay in this place.
	ErrForeign = errors.New("does not belong to this cache")
	// ErrDamaged: they were written here, and have changed or are cut short.
	ErrDamaged = errors.New("damaged")
)

// VersionError is a directory of another layout, most likely of a newer program.
type VersionError struct{ Got, Want uint32 }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the cache directory has layout %d, and this program reads layout %d", e.Got, e.Want)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of b.
func Sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Header is what holds for a whole directory.
type Header struct {
	// SegmentBytes is the length of a full segment.
	SegmentBytes int64
	// Seed is that of the hashes of keys.
	Seed uint64
	// Secret makes the stamps. Nobody outside knows it.
	Secret uint64
}

const headerBytes = 4 + 8 + 8 + 8

// Append appends h: version [4] SegmentBytes [8] Seed [8] Secret [8]. The file around it has a checksum.
func (h Header) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, Version)
	b = le.AppendUint64(b, uint64(h.SegmentBytes)) //nolint:gosec // above 0
	b = le.AppendUint64(b, h.Seed)
	return le.AppendUint64(b, h.Secret)
}

// ParseHeader reads what Append wrote. The error is a *VersionError or ErrDamaged.
func ParseHeader(b []byte) (Header, error) {
	le := binary.LittleEndian
	if len(b) < 4 {
		return Header{}, fmt.Errorf("cache header: %w", ErrDamaged)
	}
	if v := le.Uint32(b); v != Version {
		return Header{}, &VersionError{Got: v, Want: Version}
	}
	if len(b) != headerBytes {
		return Header{}, fmt.Errorf("cache header of %d bytes: %w", len(b), ErrDamaged)
	}
	h := Header{SegmentBytes: int64(le.Uint64(b[4:])), Seed: le.Uint64(b[12:]), Secret: le.Uint64(b[20:])} //nolint:gosec // checked below
	if h.SegmentBytes < MinSegment || h.SegmentBytes > MaxSegment || h.SegmentBytes%Page != 0 {
		return Header{}, fmt.Errorf("cache header: segments of %d bytes: %w", h.SegmentBytes, ErrDamaged)
	}
	return h, nil
}

// What a stamp is of.
const (
	ofSegment uint64 = iota + 1
	ofRecord
	ofTrailer
	ofRemoved
	ofPatched
)

// stamp returns the mark of a structure of one sort at offset of the segment with the number. Without
// the secret nobody can write it.
func (h Header) stamp(sort, segment, offset uint64) uint64 {
	return Mix(Mix(Mix(h.Secret^sort)+segment) + offset)
}

// Mix is the finalizer of splitmix64: each bit of x changes each bit of the result half of the time.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// SegmentHead is page 0 of a segment.
type SegmentHead struct {
	Number uint64 // number of the segment: it names the file, and grows
	Kind   Kind
}

const segmentHeadBytes = 8 + 8 + 1 + 4

// AppendSegmentHead appends page 0 of a segment: stamp [8] number [8] kind [1] checksum of all these [4], and zeros.
func (h Header) AppendSegmentHead(b []byte, s SegmentHead) []byte {
	start, le := len(b), binary.LittleEndian
	b = le.AppendUint64(b, h.stamp(ofSegment, s.Number, 0))
	b = le.AppendUint64(b, s.Number)
	b = append(b, byte(s.Kind))
	b = le.AppendUint32(b, Sum(b[start:]))
	return append(b, make([]byte, Page-segmentHeadBytes)...)
}

// ParseSegmentHead reads page 0 of the segment that the file of this number should be.
func (h Header) ParseSegmentHead(b []byte, number uint64) (SegmentHead, error) {
	le := binary.LittleEndian
	if len(b) < segmentHeadBytes {
		return SegmentHead{}, ErrDamaged
	}
	s := SegmentHead{Number: le.Uint64(b[8:]), Kind: Kind(b[16])}
	if le.Uint64(b) != h.stamp(ofSegment, number, 0) || s.Number != number {
		return SegmentHead{}, ErrForeign
	}
	if le.Uint32(b[17:]) != Sum(b[:17]) || (s.Kind != Small && s.Kind != Large) {
		return SegmentHead{}, ErrDamaged
	}
	return s, nil
}
