package cachekey

import (
	"encoding/binary"
	"math"
)

// partMark stands behind opening where the number of header rules would, which is
// never that large.
const partMark = maxNames + 1

// AppendPart appends what names a part of the representation that the key in dst
// names, and returns the longer slice: the slice of this number, from 0, where slices
// are of size bytes; with size 0, the one part that is kept of it. The part of a
// variant may follow. No key without a part is the same, and no request can choose
// one that is. AppendPart allocates only if dst has to grow.
func AppendPart(dst []byte, size, number int64) []byte {
	dst = append(dst, opening)
	dst = binary.AppendUvarint(dst, partMark)
	dst = binary.AppendUvarint(dst, uint64(size))
	return binary.AppendUvarint(dst, uint64(number))
}

// Part returns what AppendPart appended behind a key, where key, the part of a key behind its URL, begins with that. Number is -1 with
// size 0, since the one part that is kept has none.
func Part(key []byte) (size, number int64, ok bool) {
	if len(key) == 0 || key[0] != opening {
		return 0, 0, false
	}
	var numbers [3]uint64
	key = key[1:]
	for i := range numbers {
		n := 0
		if numbers[i], n = binary.Uvarint(key); n <= 0 {
			return 0, 0, false
		}
		key = key[n:]
	}
	if numbers[0] != partMark || numbers[1] > math.MaxInt64 || numbers[2] > math.MaxInt64 {
		return 0, 0, false
	}
	if numbers[1] == 0 {
		return 0, -1, true
	}
	return int64(numbers[1]), int64(numbers[2]), true
}
