package bloom

import "fmt"

// Layout is how the cells of one generation lie in memory. Options.Size says
// how large a generation is in each.
type Layout uint8

// The layouts. In those of the textbook a key's cells lie anywhere in the array;
// in the blocked ones within one cache line, which costs one memory access
// instead of one for each cell, and some more bits for the same rate.
const (
	TextbookBits     Layout = iota // Filter; the unit is a bit
	TextbookCounters               // counters of 4 bits; the unit is a counter
	SplitBlock                     // 8 lanes of 32 bits; the unit is a block of 32 bytes
	CountingLine                   // 4 lanes of 32 counters of 4 bits; the unit is a line of 64 bytes
)

// String returns the layout's name, as it stands in errors and in saved state.
func (l Layout) String() string {
	switch l {
	case TextbookBits:
		return "textbook-bits"
	case TextbookCounters:
		return "textbook-counters"
	case SplitBlock:
		return "split-block-8x32"
	case CountingLine:
		return "counting-line-4x32"
	default:
		return fmt.Sprintf("layout %d", uint8(l))
	}
}

// maxBitsPerKey bounds the memory that a low rate may ask of a blocked layout.
// Two keys in one block err at a rate that no memory takes away, so towards
// lower rates the size explodes.
const maxBitsPerKey = 4096

// lanes returns the lanes of a blocked layout, which are also a key's cells, and
// the bits of one of its units; blocked is false for the textbook's.
func (l Layout) lanes() (lanes, bits int, blocked bool) {
	switch l {
	case SplitBlock:
		return blockLanes, blockLanes * laneCells, true
	case CountingLine:
		return lineLanes, lineLanes * laneCells * 4, true
	default:
		return 0, 0, false
	}
}

// Bytes returns the memory that so many units take, in whole words of 64 bits.
func (l Layout) Bytes(units uint64) int64 {
	bits := uint64(1)
	if _, unit, blocked := l.lanes(); blocked {
		bits = uint64(unit)
	} else if l == TextbookCounters {
		bits = 4
	}
	return int64((units*bits + 63) / 64 * 8)
}

// lowestRate returns the rate of one generation at maxBitsPerKey; 0 where the
// layout has no such limit.
func (l Layout) lowestRate() float64 {
	lanes, bits, blocked := l.lanes()
	if !blocked {
		return 0
	}
	return blockedRate(lanes, maxBitsPerKey, uint64(bits))
}
