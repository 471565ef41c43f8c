package layout

import "encoding/binary"

// Entry says where a record lies, at the end of its segment.
type Entry struct {
	Hash   uint64
	Offset int64 // a multiple of Unit, below 64 MiB
	Bytes  int64 // length of the record, a multiple of Unit
}

// EntryBytes and TrailerBytes are the lengths of an Entry and of the Trailer on the disk.
const (
	EntryBytes   = 16
	TrailerBytes = 64
)

// AppendEntry appends e: Hash [8] Offset÷Unit [4] Bytes÷Unit [4].
func AppendEntry(b []byte, e Entry) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, e.Hash)
	b = le.AppendUint32(b, uint32(e.Offset/Unit))   //nolint:gosec // a segment is at most 64 MiB long
	return le.AppendUint32(b, uint32(e.Bytes/Unit)) //nolint:gosec // MaxBody÷Unit is below 2^32
}

// ParseEntry reads what AppendEntry wrote; b has at least EntryBytes.
func ParseEntry(b []byte) Entry {
	le := binary.LittleEndian
	return Entry{Hash: le.Uint64(b), Offset: int64(le.Uint32(b[8:])) * Unit, Bytes: int64(le.Uint32(b[12:])) * Unit}
}

// Trailer ends a sealed segment.
type Trailer struct {
	Number    uint64
	Kind      Kind
	Entries   int64  // how many
	EntriesAt int64  // where the first begins, a multiple of Page
	Sum       uint32 // checksum of all entries
	Serial    uint64 // the highest of the records
}

// FooterBytes returns the length of what seals a segment of n records, a multiple of Page.
func FooterBytes(n int64) int64 { return Align(n*EntryBytes+TrailerBytes, Page) }

// AppendFooter appends what seals a segment whose records end at at, a multiple of Page: the entries, which are encoded
// already, zeros, and the Trailer.
func (h Header) AppendFooter(b, entries []byte, t Trailer) []byte {
	start, le := len(b), binary.LittleEndian
	n := int64(len(entries)) / EntryBytes
	b = append(b, entries...)
	b = append(b, make([]byte, FooterBytes(n)-int64(len(entries)))...)
	end := b[int64(start)+FooterBytes(n)-TrailerBytes:][:0]
	end = le.AppendUint64(end, h.stamp(ofTrailer, t.Number, uint64(t.EntriesAt))) //nolint:gosec // not negative
	end = le.AppendUint64(end, t.Number)
	end = le.AppendUint64(end, uint64(n))           //nolint:gosec // not negative
	end = le.AppendUint64(end, uint64(t.EntriesAt)) //nolint:gosec // not negative
	end = le.AppendUint64(end, t.Serial)
	end = le.AppendUint32(end, uint32(t.Kind))
	end = le.AppendUint32(end, Sum(entries))
	le.PutUint32(end[len(end):cap(end)][:4], Sum(end))
	return b
}

// ParseTrailer reads the Trailer, the last TrailerBytes of a file of size bytes that should be the segment of this number. The
// error is ErrForeign where there is none, or ErrDamaged.
func (h Header) ParseTrailer(b []byte, number uint64, size int64) (Trailer, error) {
	le := binary.LittleEndian
	if len(b) != TrailerBytes {
		return Trailer{}, ErrDamaged
	}
	at := le.Uint64(b[24:])
	if le.Uint64(b) != h.stamp(ofTrailer, number, at) {
		return Trailer{}, ErrForeign
	}
	t := Trailer{
		Number: le.Uint64(b[8:]), Entries: int64(le.Uint64(b[16:])), EntriesAt: int64(at), //nolint:gosec // checked below
		Serial: le.Uint64(b[32:]), Kind: Kind(b[40]), Sum: le.Uint32(b[44:]),
	}
	if le.Uint32(b[48:]) != Sum(b[:48]) || t.Number != number || (t.Kind != Small && t.Kind != Large) ||
		t.Entries < 0 || t.Entries > size/EntryBytes || t.EntriesAt < Page || t.EntriesAt%Page != 0 || t.EntriesAt+FooterBytes(t.Entries) != size {
		return Trailer{}, ErrDamaged
	}
	return t, nil
}

// Valid reports whether e may be an entry of a segment with this trailer: its record lies between page 0 and
// the entries, where a record may.
func (t Trailer) Valid(e Entry) bool {
	return e.Offset >= Page && e.Offset < MaxSegment && e.Bytes > 0 && e.Offset+e.Bytes <= t.EntriesAt
}
