package layout

import "encoding/binary"

// Removed says that a record is no longer there, though its segment still has it: it was removed, or has been
// replaced by another of its key.
type Removed struct {
	Segment uint64
	Offset  int64
}

// RemovedBytes is the length of one Removed in the log.
const RemovedBytes = 16

// AppendRemoved appends r: number of the segment [8] Offset÷Unit [4] low half of the stamp of these [4].
func (h Header) AppendRemoved(b []byte, r Removed) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, r.Segment)
	b = le.AppendUint32(b, uint32(r.Offset/Unit))                                           //nolint:gosec // below 64 MiB
	return le.AppendUint32(b, uint32(h.stamp(ofRemoved, r.Segment, uint64(r.Offset/Unit)))) //nolint:gosec // its low half
}

// ParseRemoved reads what AppendRemoved wrote, and false where it is something else; b has at least RemovedBytes.
func (h Header) ParseRemoved(b []byte) (Removed, bool) {
	le := binary.LittleEndian
	r := Removed{Segment: le.Uint64(b), Offset: int64(le.Uint32(b[8:])) * Unit}
	return r, le.Uint32(b[12:]) == uint32(h.stamp(ofRemoved, r.Segment, uint64(le.Uint32(b[8:])))) //nolint:gosec // its low half
}
