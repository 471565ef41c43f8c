package index

// hashOf returns the hash of object n: a mix in which every bit depends on all of n.
func hashOf(n int) uint64 {
	z := uint64(n)*0x9e3779b97f4a7c15 + 0x1234567
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// placeOf returns a place of object n that no other has, as far as the bits go.
func placeOf(n int) Place {
	return Place{Segment: uint16(n >> 10), Class: uint8(n>>26) & MaxClass, Offset: uint32(n&1023) << 8}
}
