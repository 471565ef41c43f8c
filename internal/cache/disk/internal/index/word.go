package index

// Place says where a record lies. Places can be compared.
//
// Segment is the number of the segment's file. Offset is the record's start in
// units of 64 bytes, at most MaxOffset. Class says roughly how long the record is,
// at most MaxClass; its meaning is the caller's. A place beyond these is not held.
type Place struct {
	Segment uint16
	Class   uint8
	Offset  uint32
}

// The largest values that a word has room for.
const (
	MaxOffset = 1<<offsetBits - 1
	MaxClass  = 1<<classBits - 1
	MaxHits   = 1<<hitBits - 1
)

const (
	offsetBits  = 20
	segmentBits = 16
	hitBits     = 2
	classBits   = 6
	tagBits     = 20

	segmentShift = offsetBits
	hitShift     = segmentShift + segmentBits
	classShift   = hitShift + hitBits
	tagShift     = classShift + classBits

	oneHit  = word(1) << hitShift
	hitMask = word(MaxHits) << hitShift
)

// word is what one slot holds; 0 is a free slot.
type word uint64

// tag is the part of the hash that a word keeps. It is never 0, so no word is 0.
type tag uint64

func tagOf(h uint64) tag {
	return tag(max(h&(1<<tagBits-1), 1))
}

func (p Place) fits() bool { return p.Offset <= MaxOffset && p.Class <= MaxClass }

// newWord returns the word of p, without hits. p must fit.
func newWord(t tag, p Place) word {
	return word(t)<<tagShift | word(p.Class)<<classShift | word(p.Segment)<<segmentShift | word(p.Offset)
}

func (w word) tag() tag  { return tag(w >> tagShift) }
func (w word) hits() int { return int(w & hitMask >> hitShift) }

// same says whether w and v are words of one tag and place, whatever their hits.
func (w word) same(v word) bool { return (w^v)&^hitMask == 0 }

func (w word) place() Place {
	return Place{
		Segment: uint16(w >> segmentShift & (1<<segmentBits - 1)),
		Class:   uint8(w >> classShift & MaxClass),
		Offset:  uint32(w & MaxOffset),
	}
}
