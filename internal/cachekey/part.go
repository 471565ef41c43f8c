package cachekey

import "encoding/binary"

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
