package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Record is one stored object as it is written. Layout keeps no reference to its bytes.
type Record struct {
	Hash   uint64 // hash of Key under the directory's seed
	Serial uint64 // grows with each record of the directory: of two with one key the higher counts
	Key    []byte // the full key, at most MaxKey bytes
	Block  []byte // the caller's: facts and head of the response, at most MaxBlock bytes
	Body   []byte
	Sums   []byte // the checksums of the body (AppendSums), where Body is not at hand; nil: they are made of it
}

// ErrTooLong says that a key, a block or a body is above its bound.
var ErrTooLong = errors.New("too long for a record")

// Shape says where the parts of a record lie, in bytes from its beginning.
type Shape struct {
	KeyBytes, BlockBytes int64
	BodyBytes            int64
	BodyAt               int64
	// Bytes is the length of the whole, up to the next record.
	Bytes int64
}

// The fixed fields of a head: stamp [8] Hash [8] Serial [8] BodyBytes [8] KeyBytes [4] BlockBytes [4] BodyAt [4]
// zeros [16] checksum [4]. The checksum covers the 60 bytes before it, the key, the block and the checksums of the body.
const (
	fixedBytes = 64
	sumAt      = 60
)

func (s Shape) chunks() int64 { return (s.BodyBytes + ChunkBytes - 1) / ChunkBytes }

// HeadBytes returns the length of what comes before the body, without padding.
func (s Shape) HeadBytes() int64 { return fixedBytes + s.KeyBytes + s.BlockBytes + 4*s.chunks() }

// Kind returns the kind of segment that the record belongs to.
func (s Shape) Kind() Kind { return KindOf(s.BodyBytes) }

// ShapeOf returns the shape of a record with parts of these lengths. The error is ErrTooLong.
func ShapeOf(key, block int, body int64) (Shape, error) {
	s := Shape{KeyBytes: int64(key), BlockBytes: int64(block), BodyBytes: body}
	if key > MaxKey || block > MaxBlock || body > MaxBody || body < 0 {
		return s, fmt.Errorf("key of %d bytes, head of %d, body of %d: %w", key, block, body, ErrTooLong)
	}
	s.BodyAt = s.HeadBytes()
	if body >= AlignFrom {
		s.BodyAt = Align(s.BodyAt, Page)
	}
	end := int64(Unit)
	if s.Kind() == Large {
		end = Page
	}
	s.Bytes = Align(s.BodyAt+body, end)
	return s, nil
}

// maxBodyAt is the furthest that a body may begin: behind the longest head.
const maxBodyAt = fixedBytes + MaxKey + MaxBlock + 4*MaxBody/ChunkBytes + Page

// BodyFrom returns s with its body further behind, at a multiple of Page: its head is written last, into room that was left before it
// was known. The body has at least AlignFrom bytes. The error is ErrTooLong where the head does not fit, or at is no such place.
func (s Shape) BodyFrom(at int64) (Shape, error) {
	if s.BodyBytes < AlignFrom || at < s.BodyAt || at > maxBodyAt || at%Page != 0 {
		return s, fmt.Errorf("body of %d bytes at %d, head of %d: %w", s.BodyBytes, at, s.HeadBytes(), ErrTooLong)
	}
	s.BodyAt = at
	s.Bytes = Align(at+s.BodyBytes, Page)
	return s, nil
}

// HeadRoom returns where the body of a record begins whose key and block have together at most head bytes, and whose body at most body.
func HeadRoom(head, body int64) int64 {
	s := Shape{BlockBytes: head, BodyBytes: body}
	return Align(s.HeadBytes(), Page)
}

// AppendSums appends the checksums of the next part of a body: b begins at a multiple of ChunkBytes.
func AppendSums(sums, b []byte) []byte {
	for len(b) > 0 {
		n := min(len(b), ChunkBytes)
		sums = binary.LittleEndian.AppendUint32(sums, Sum(b[:n]))
		b = b[n:]
	}
	return sums
}

// AppendHead appends the head of r for its place, without the padding behind it. The shape is that of r.
func (h Header) AppendHead(b []byte, r *Record, s Shape, segment uint64, offset int64) []byte {
	start, le := len(b), binary.LittleEndian
	b = le.AppendUint64(b, h.stamp(ofRecord, segment, uint64(offset))) //nolint:gosec // not negative
	b = le.AppendUint64(b, r.Hash)
	b = le.AppendUint64(b, r.Serial)
	b = le.AppendUint64(b, uint64(s.BodyBytes)) //nolint:gosec // not negative
	for _, n := range [...]int64{s.KeyBytes, s.BlockBytes, s.BodyAt, 0, 0, 0, 0, 0} {
		b = le.AppendUint32(b, uint32(n)) //nolint:gosec // bounded by ShapeOf
	}
	b = append(append(b, r.Key...), r.Block...)
	if r.Sums != nil {
		b = append(b, r.Sums...)
	} else {
		b = AppendSums(b, r.Body)
	}
	le.PutUint32(b[start+sumAt:], headSum(b[start:]))
	return b
}

// headSum is the checksum of a head, without the field it stands in.
func headSum(head []byte) uint32 { return Sum(head[:sumAt]) ^ mixSum(Sum(head[fixedBytes:])) }

// mixSum keeps equal changes of both parts from cancelling each other.
func mixSum(s uint32) uint32 { return uint32(Mix(uint64(s))) } //nolint:gosec // its low half

// Head is the head of a record that was read. Its bytes are those that were parsed.
type Head struct {
	Shape
	Hash, Serial uint64
	Key, Block   []byte
	sums         []byte
}

// Need returns how many bytes from the beginning of a record its head takes, by its fixed fields. b has at least 64
// bytes of it. The error is ErrForeign where no record begins, or ErrDamaged.
func (h Header) Need(b []byte, segment uint64, offset int64) (Shape, error) {
	le := binary.LittleEndian
	if len(b) < fixedBytes {
		return Shape{}, ErrDamaged
	}
	if le.Uint64(b) != h.stamp(ofRecord, segment, uint64(offset)) { //nolint:gosec // not negative
		return Shape{}, ErrForeign
	}
	body, key, block := le.Uint64(b[24:]), le.Uint32(b[32:]), le.Uint32(b[36:])
	if body > MaxBody || key > MaxKey || block > MaxBlock {
		return Shape{}, ErrDamaged
	}
	s, err := ShapeOf(int(key), int(block), int64(body)) //nolint:gosec // bounded above
	if at := int64(le.Uint32(b[40:])); err == nil && at != s.BodyAt {
		s, err = s.BodyFrom(at)
	}
	if err != nil {
		return Shape{}, ErrDamaged
	}
	return s, nil
}

// ParseHead reads the head of the record at offset of the segment. b begins with it, and may end before its
// body. The error is ErrForeign where no record begins, or ErrDamaged.
func (h Header) ParseHead(b []byte, segment uint64, offset int64) (Head, error) {
	s, err := h.Need(b, segment, offset)
	if err != nil {
		return Head{}, err
	}
	if int64(len(b)) < s.HeadBytes() {
		return Head{}, ErrDamaged
	}
	le := binary.LittleEndian
	if le.Uint32(b[sumAt:]) != headSum(b[:s.HeadBytes()]) {
		return Head{}, ErrDamaged
	}
	block := fixedBytes + s.KeyBytes
	sums := block + s.BlockBytes
	return Head{
		Shape: s, Hash: le.Uint64(b[8:]), Serial: le.Uint64(b[16:]),
		Key: b[fixedBytes:block:block], Block: b[block:sums:sums], sums: b[sums:s.HeadBytes()],
	}, nil
}

// Check reports whether b is what was written as the body from offset at on. at is a multiple of
// ChunkBytes, and b ends at one or with the body.
func (h *Head) Check(b []byte, at int64) bool {
	if at%ChunkBytes != 0 || at < 0 || at+int64(len(b)) > h.BodyBytes {
		return false
	}
	for len(b) > 0 {
		n := min(len(b), ChunkBytes)
		if n < ChunkBytes && at+int64(n) != h.BodyBytes {
			return false
		}
		if Sum(b[:n]) != binary.LittleEndian.Uint32(h.sums[at/ChunkBytes*4:]) {
			return false
		}
		b, at = b[n:], at+int64(n)
	}
	return true
}
