package wire

import "encoding/binary"

// methodClass is the first byte of the keys of AppendKey. GET and HEAD share one
// class, since a stored GET response answers both. No other method has a key.
const methodClass = 'G'

// AppendKey appends the canonical URL key to dst: the method class, then scheme,
// host and target. Each part comes after its length, so different parts never
// give the same key. host must come from AppendHost, target from AppendNormal. It
// allocates nothing when dst has room.
func AppendKey(dst []byte, scheme string, host, target []byte) []byte {
	dst = append(dst, methodClass)
	dst = binary.AppendUvarint(dst, uint64(len(scheme)))
	dst = append(dst, scheme...)
	dst = binary.AppendUvarint(dst, uint64(len(host)))
	dst = append(dst, host...)
	dst = binary.AppendUvarint(dst, uint64(len(target)))
	return append(dst, target...)
}
