package rfc9111

import "encoding/binary"

// AppendVariantField appends to dst what one request field that Vary names adds to
// the key of a variant, and returns the longer slice. It appends the name, the number
// of lines, and each line after its length. Two lists of fields give the same bytes
// only if they are the same, apart from white space around a line.
//
// Names are those of VaryNames, in their order. The lines must be exactly those that are
// forwarded, without hop-by-hop fields: for Accept-Encoding the result of Codings, for
// Accept-Language that of AppendLanguages. So all requests with one key send the origin
// the same lines, and the normalization of RFC 9111 section 4.1 is not needed. The lines
// are not joined, since an origin may use the first, the last or all of them. A field
// without lines is absent, which is not the same as empty.
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

// VariantField is one request field in a variant's key. Lines is nil if the request did not have the field.
type VariantField struct {
	Name  string
	Lines []string
}

// ParseVariant parses the fields that AppendVariantField has appended. Ok is false if b is
// something else.
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
