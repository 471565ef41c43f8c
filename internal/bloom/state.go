package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The saved state of a sliding filter, little endian:
//
//	 0  magic, 8 bytes
//	 8  version, 4 bytes
//	12  generations, 4 bytes
//	16  layout, 32 bytes, filled up with zeros
//	48  capacity, 8 bytes
//	56  false positive rate of the window, 8 bytes (IEEE 754)
//	64  units of a generation, 8 bytes
//	72  words of a generation, 8 bytes
//	80  CRC-32C of the header so far, 4 bytes
//
// then for each generation, the oldest first,
//
//	start, 8 bytes: Unix time in nanoseconds
//	words, 8 bytes each
//	keys, 8 bytes
//	whole, 8 bytes: 1, or 0 for one forgotten meanwhile, whose words mean nothing
//
// and last a CRC-32C of all before, 4 bytes.
const (
	stateMagic   = "EDGSLIDE"
	stateVersion = 1
)

// stateHeader is the first 80 bytes, in their order.
type stateHeader struct {
	Magic       [8]byte
	Version     uint32
	Generations uint32
	Layout      [32]byte
	Capacity    int64
	Rate        float64
	Units       uint64
	Words       uint64
}

// stateHeaderBytes is the header's length, its checksum not counted.
const stateHeaderBytes = 80

// ErrChecksum is in the chain of an error for a saved state that was damaged:
// its checksum is not that of its bytes.
var ErrChecksum = errors.New("the checksum is wrong")

// StateError says in what a saved state is not one of the filter that was to be
// loaded. It is whole, and of no use here.
type StateError struct {
	What      string // "magic", "version", "layout", "generations", "capacity", "false_positive_rate", "units", "words" or "keys"
	Got, Want any
}

// Error returns what differs, the value and what is wanted, in this order.
func (e *StateError) Error() string {
	return fmt.Sprintf("saved state: %s: %v: want %v", e.What, e.Got, e.Want)
}

// Storable is a Generation whose cells can be written out and read back.
type Storable interface {
	Generation

	// Words returns the number of its words of 64 bits.
	Words() int

	// ReadWords copies the words from the given one on into out, each by an
	// atomic load. It may run beside everything.
	ReadWords(from int, out []uint64)

	// WriteWords sets the words from the given one on. Only for a generation
	// that no Ring has yet, as SetKeys.
	WriteWords(from int, words []uint64)

	// SetKeys sets what Keys returns.
	SetKeys(n int64)
}

// newStateHeader is the header of a filter of these options, which are valid
// for the layout.
func newStateHeader(l Layout, o Options) stateHeader {
	units, _ := o.Size(l)
	h := stateHeader{
		Version: stateVersion, Generations: uint32(o.Generations),
		Capacity: o.Capacity, Rate: o.FalsePositiveRate, Units: units, Words: uint64(l.Bytes(units) / 8),
	}
	copy(h.Magic[:], stateMagic)
	copy(h.Layout[:], l.String())
	return h
}

// append appends the header and its checksum.
func (h *stateHeader) append(b []byte) []byte {
	start := len(b)
	// Every field has a size, so there is nothing to fail.
	b, _ = binary.Append(b, binary.LittleEndian, h)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
}

// check holds the bytes of a header and its checksum against h. Magic and
// version come first: what bears others need not have the rest where we look.
func (h *stateHeader) check(b []byte) error {
	var got stateHeader
	if _, err := binary.Decode(b, binary.LittleEndian, &got); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if got.Magic != h.Magic {
		return &StateError{What: "magic", Got: fmt.Sprintf("%q", got.Magic[:]), Want: fmt.Sprintf("%q", h.Magic[:])}
	}
	if got.Version != h.Version {
		return &StateError{What: "version", Got: got.Version, Want: h.Version}
	}
	if crc32.Checksum(b[:stateHeaderBytes], castagnoli()) != binary.LittleEndian.Uint32(b[stateHeaderBytes:]) {
		return fmt.Errorf("header: %w", ErrChecksum)
	}
	for _, field := range [...]struct {
		what      string
		got, want any
	}{
		{"layout", layoutName(got.Layout), layoutName(h.Layout)},
		{"generations", got.Generations, h.Generations},
		{"capacity", got.Capacity, h.Capacity},
		{"false_positive_rate", got.Rate, h.Rate},
		{"units", got.Units, h.Units},
		{"words", got.Words, h.Words},
	} {
		if field.got != field.want {
			return &StateError{What: field.what, Got: field.got, Want: field.want}
		}
	}
	return nil
}

func layoutName(b [32]byte) string { return string(bytes.TrimRight(b[:], "\x00")) }
