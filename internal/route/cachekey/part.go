package cachekey

import (
	"encoding/binary"
	"math"
)

// partMark stands behind selectorsMark in place of the number of header rules, which is
// never that large.
const partMark = maxNames + 1

// AppendPart appends the name of a part of the representation to its key in dst, and
// returns the extended key. The part is the slice with this number, from 0, of size bytes;
// with size 0 it is the only part that is kept. A variant may follow. No request can choose
// a key that is equal to one with a part. AppendPart allocates only if dst has to grow.
func AppendPart(dst []byte, size, number int64) []byte {
	dst = append(dst, selectorsMark)
	dst = binary.AppendUvarint(dst, partMark)
	dst = binary.AppendUvarint(dst, uint64(size))
	return binary.AppendUvarint(dst, uint64(number))
}

// Part returns what AppendPart has appended. key is the part of a key behind its URL. number
// is -1 with size 0: the only part that is kept has no number.
func Part(key []byte) (size, number int64, ok bool) {
	if len(key) == 0 || key[0] != selectorsMark {
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
