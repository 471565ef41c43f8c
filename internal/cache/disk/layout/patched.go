package layout

import "encoding/binary"

// Patched says what the caller has noted of a record since it was written.
type Patched struct {
	Segment uint64
	Offset  int64
	Serial  uint64 // serial of the record
	Bytes   [PatchBytes]byte
}

// PatchBytes is how much the caller may note of a record, and PatchedBytes the length of one Patched in the log.
const (
	PatchBytes   = 32
	PatchedBytes = 4 * RemovedBytes
)

// AppendPatched appends p: number of the segment [8] Offset÷Unit [4] low half of the stamp of these [4] Serial [8] Bytes [32] zeros [4] checksum
// of all these [4].
func (h Header) AppendPatched(b []byte, p Patched) []byte {
	start, le := len(b), binary.LittleEndian
	b = le.AppendUint64(b, p.Segment)
	b = le.AppendUint32(b, uint32(p.Offset/Unit))                                        //nolint:gosec // below 64 MiB
	b = le.AppendUint32(b, uint32(h.stamp(ofPatched, p.Segment, uint64(p.Offset/Unit)))) //nolint:gosec // its low half
	b = le.AppendUint64(b, p.Serial)
	b = append(b, p.Bytes[:]...)
	b = append(b, 0, 0, 0, 0)
	return le.AppendUint32(b, Sum(b[start:]))
}

// ParsePatched reads what AppendPatched wrote at the beginning of b, and false where it is something else, or not all of it.
func (h Header) ParsePatched(b []byte) (Patched, bool) {
	if len(b) < PatchedBytes {
		return Patched{}, false
	}
	le := binary.LittleEndian
	p := Patched{Segment: le.Uint64(b), Offset: int64(le.Uint32(b[8:])) * Unit, Serial: le.Uint64(b[16:])}
	copy(p.Bytes[:], b[24:])
	stamp := uint32(h.stamp(ofPatched, p.Segment, uint64(le.Uint32(b[8:])))) //nolint:gosec // its low half
	return p, le.Uint32(b[12:]) == stamp && le.Uint32(b[60:]) == Sum(b[:60])
}
