package rfc9111

import "encoding/binary"

// AppendVariantField appends to dst what one selecting field adds to the key of a
// variant, and returns the longer slice: the name, how many lines there are, and each
// line behind its length. No two different lists of fields give the same bytes,
// whatever the lines hold, but for white space around a line.
//
// Names are those of VaryNames, in their order. The lines are those that are forwarded,
// without hop-by-hop fields, and in the very form in which they are: of Accept-Encoding
// that is Codings, of Accept-Language AppendLanguages. So requests with one key have
// sent the origin the same lines, and RFC 9111 section 4.1 has nothing left to
// normalise. Lines count one by one, for an origin may take the first, the last or all of
// them. Without a line the field is absent, which differs from empty.
//
// AppendVariantField keeps no argument, and allocates only if dst has to grow.
func AppendVariantField(dst []byte, name string, lines [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	dst = binary.AppendUvarint(dst, uint64(len(lines)))
	for _, line := range lines {
		line = trim(line)
		dst = binary.AppendUvarint(dst, uint64(len(line)))
		dst = append(dst, line...)
	}
	return dst
}
