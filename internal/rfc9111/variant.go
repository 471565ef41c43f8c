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

// VariantField is what a variant's key says of one field of the request that it was selected by: nil Lines is a field that
// the request had not.
type VariantField struct {
	Name  string
	Lines []string
}

// ParseVariant reads what AppendVariantField has appended, one field after the other. It reports false where b is something else.
func ParseVariant(b []byte) (fields []VariantField, ok bool) {
	text := func() string {
		n, size := binary.Uvarint(b)
		if ok = ok && size > 0 && n <= uint64(len(b)-size); !ok {
			return ""
		}
		s := string(b[size:][:n])
		b = b[size+int(n):]
		return s
	}
	for ok = true; ok && len(b) > 0; {
		f := VariantField{Name: text()}
		n, size := binary.Uvarint(b)
		if ok = ok && size > 0 && n <= uint64(len(b)); !ok {
			break
		}
		b = b[size:]
		for range n {
			f.Lines = append(f.Lines, text())
		}
		fields = append(fields, f)
	}
	return fields, ok
}
