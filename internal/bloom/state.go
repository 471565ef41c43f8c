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
//	48  false positive rate of the window, 8 bytes (IEEE 754)
//	56  capacity of each generation, the newest first, 8 bytes each; 0 for none
//	88  units of each, 8 bytes each
//	120  CRC-32C of the header so far, 4 bytes
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
	stateVersion = 2
)

// stateHeader is the first 120 bytes, in their order.
type stateHeader struct {
	Magic       [8]byte
	Version     uint32
	Generations uint32
	Layout      [32]byte
	Rate        float64
	Capacities  [MaxGenerations]int64
	Units       [MaxGenerations]uint64
}

// stateHeaderBytes is the header's length, its checksum not counted.
const stateHeaderBytes = 120

// maxStateCapacity is the largest capacity of a generation that is believed.
const maxStateCapacity = 1 << 30

// ErrChecksum is in the chain of an error for a saved state that was damaged:
// its checksum is not that of its bytes.
var ErrChecksum = errors.New("the checksum is wrong")

// StateError says in what a saved state is not one of the filter that was to be
// loaded. It is whole, and of no use here.
type StateError struct {
	What      string // "magic", "version", "layout", "generations", "capacity", "false_positive_rate", "units" or "keys"
	Got, Want any
}

// Error returns what differs, the value and what is wanted, in this order.
func (e *StateError) Error() string {
	return fmt.Sprintf("saved state: %s: %v: must be %v", e.What, e.Got, e.Want)
}

// Storable is a Generation whose cells can be written out and read back.
type Storable interface {
	Generation

	// Capacity returns the number of keys it was made for.
	Capacity() int64

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
// for the layout, with generations of these capacities, newest first.
func newStateHeader(l Layout, o Options, capacities []int64) stateHeader {
	h := stateHeader{Version: stateVersion, Generations: uint32(o.Generations), Rate: o.FalsePositiveRate}
	for i, capacity := range capacities {
		o.Capacity = capacity
		h.Capacities[i] = capacity
		h.Units[i], _ = o.Size(l)
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

// capacitiesIn holds the bytes of a header and its checksum against a filter of
// these options and returns the capacities of its generations, newest first. Magic
// and version come first: what bears others need not have the rest where we look.
func capacitiesIn(b []byte, l Layout, o Options) ([]int64, error) {
	var got stateHeader
	if _, err := binary.Decode(b, binary.LittleEndian, &got); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	want := newStateHeader(l, o, nil)
	if got.Magic != want.Magic {
		return nil, &StateError{What: "magic", Got: fmt.Sprintf("%q", got.Magic[:]), Want: fmt.Sprintf("%q", want.Magic[:])}
	}
	if got.Version != want.Version {
		return nil, &StateError{What: "version", Got: got.Version, Want: want.Version}
	}
	if crc32.Checksum(b[:stateHeaderBytes], castagnoli()) != binary.LittleEndian.Uint32(b[stateHeaderBytes:]) {
		return nil, fmt.Errorf("header: %w", ErrChecksum)
	}
	for _, field := range [...]struct {
		what      string
		got, want any
	}{
		{"layout", layoutName(got.Layout), layoutName(want.Layout)},
		{"generations", got.Generations, want.Generations},
		{"false_positive_rate", got.Rate, want.Rate},
	} {
		if field.got != field.want {
			return nil, &StateError{What: field.what, Got: field.got, Want: field.want}
		}
	}
	return got.capacities(l, o)
}

// capacities returns those of the generations of a filter of these options, newest first.
func (h *stateHeader) capacities(l Layout, o Options) ([]int64, error) {
	capacities := h.Capacities[:o.Generations]
	for _, capacity := range capacities {
		switch {
		case capacity < 1 || capacity > maxStateCapacity:
			return nil, &StateError{What: "capacity", Got: capacity, Want: fmt.Sprintf("1 to %d", maxStateCapacity)}
		case !o.Resizable && capacity != o.Capacity:
			return nil, &StateError{What: "capacity", Got: capacity, Want: o.Capacity}
		}
	}
	if want := newStateHeader(l, o, capacities); h.Units != want.Units {
		return nil, &StateError{What: "units", Got: h.Units, Want: want.Units}
	}
	return capacities, nil
}

func layoutName(b [32]byte) string { return string(bytes.TrimRight(b[:], "\x00")) }
