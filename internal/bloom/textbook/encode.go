package textbook

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"edgeproxy/internal/bloom"
)

// The binary form, little endian:
//
//	 0  magic, 8 bytes
//	 8  version, 2 bytes
//	10  kind, 1 byte: 1 filter, 2 partitioned
//	11  rule, 1 byte
//	12  probes, 1 byte
//	13  folds, 1 byte
//	14  0, 2 bytes
//	16  cells, 8 bytes
//	24  seed, 8 bytes
//	32  keys, 8 bytes
//	40  the array, in words of 8 bytes; bits past the last cell are 0
//	    CRC-32C of all before, 4 bytes
//
// There is one form for a filter: what can be decoded encodes to the same bytes.
const (
	magic        = "EDGBLOOM"
	version      = 1
	headerBytes  = 40
	trailerBytes = 4
)

// DecodeError says what is wrong with the binary form of a filter.
type DecodeError struct {
	What      string // "length", "magic", "version", "checksum", "kind", ...
	Got, Want any
}

// Error returns what is wrong, the value and what is wanted, in this order.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode a bloom filter: %s: %v: must be %v", e.What, e.Got, e.Want)
}

// AppendBinary appends the binary form to b and returns it: a header of
// parameters and keys, the array, a CRC-32C. The error is always nil. A key that
// is being added meanwhile may be in, not in or, partly in, not found later.
func (a *array) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = slices.Grow(b, headerBytes+len(a.words)*8+trailerBytes)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = append(b, byte(a.kind), byte(a.params.Rule), byte(a.k), byte(a.params.Folds), 0, 0)
	b = binary.LittleEndian.AppendUint64(b, a.m)
	b = binary.LittleEndian.AppendUint64(b, a.params.Seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(a.keys.Load()))
	for i := range a.words {
		b = binary.LittleEndian.AppendUint64(b, a.words[i].Load())
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli())), nil
}

// MarshalBinary returns what AppendBinary appends.
func (a *array) MarshalBinary() ([]byte, error) { return a.AppendBinary(nil) }

// castagnoli returns the table of CRC-32C, which package crc32 makes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// decode replaces a by the filter of kind k in data, or leaves it alone. The
// length is held against the header before an array of that length is made, so
// no more is ever allocated than data itself takes.
func (a *array) decode(k kind, data []byte) error {
	p, keys, err := decodeHeader(k, data)
	if err != nil {
		return err
	}
	body, trailer := data[:len(data)-trailerBytes], data[len(data)-trailerBytes:]
	if got, want := binary.LittleEndian.Uint32(trailer), crc32.Checksum(body, castagnoli()); got != want {
		return &DecodeError{What: "checksum", Got: got, Want: want}
	}
	array := body[headerBytes:]
	if rest := p.bits(k) % 64; rest > 0 {
		if over := binary.LittleEndian.Uint64(array[len(array)-8:]) >> rest; over != 0 {
			return &DecodeError{What: "bits past the last cell", Got: over, Want: 0}
		}
	}
	a.shape(k, p)
	ones := 0
	for i := range a.words {
		word := binary.LittleEndian.Uint64(array[8*i:])
		ones += bits.OnesCount64(word)
		a.words[i].Store(word)
	}
	a.ones.Store(int64(ones))
	a.keys.Store(keys)
	return nil
}

// decodeHeader checks all of data but the array and its checksum.
func decodeHeader(k kind, data []byte) (p Params, keys int64, err error) {
	fail := func(what string, got, want any) (Params, int64, error) {
		return Params{}, 0, &DecodeError{What: what, Got: got, Want: want}
	}
	if len(data) < headerBytes+trailerBytes {
		return fail("length", len(data), fmt.Sprintf("at least %d", headerBytes+trailerBytes))
	}
	if got := string(data[:8]); got != magic {
		return fail("magic", fmt.Sprintf("%q", got), fmt.Sprintf("%q", magic))
	}
	if got := binary.LittleEndian.Uint16(data[8:]); got != version {
		return fail("version", got, version)
	}
	if got := kind(data[10]); got != k {
		return fail("kind", byte(got), byte(k))
	}
	if got := binary.LittleEndian.Uint16(data[14:]); got != 0 {
		return fail("reserved", got, 0)
	}
	p = Params{
		Cells:  binary.LittleEndian.Uint64(data[16:]),
		Probes: int(data[12]),
		Rule:   bloom.Rule(data[11]),
		Folds:  int(data[13]),
		Seed:   binary.LittleEndian.Uint64(data[24:]),
	}
	if err := p.validate(k); err != nil {
		return fail("parameters", err, "those of a filter")
	}
	want := headerBytes + wordsFor(p.bits(k))*8 + trailerBytes
	if got := uint64(len(data)); got != want {
		return fail("length", got, want)
	}
	if keys = int64(binary.LittleEndian.Uint64(data[32:])); keys < 0 {
		return fail("keys", keys, "0 or more")
	}
	return p, keys, nil
}
