package rfc9111

import (
	"encoding/binary"
	"slices"

	"edgeproxy/internal/field"
)

// maxVaryNames bounds the fields that select a response: each costs every hit a
// look-up and a part of the key.
const maxVaryNames = 64

// VaryNames returns the names in all Vary lines of h: canonical, sorted, each
// once; nil if there are none. They may share the strings of h.
//
// Star says that no stored response may be selected: a member is "*" (RFC 9111
// section 4.1), or cannot be read as a name, or the names are more than 64. The
// names are nil then.
func VaryNames(h field.List) (names []string, star bool) {
	for i := range h {
		if h[i].Name != "Vary" {
			continue
		}
		for member, list := "", h[i].Value; len(list) > 0; {
			if member, list = cutMember(list); member == "" {
				continue
			}
			if member == "*" || !field.ValidName(member) {
				return nil, true
			}
			if name := field.Canonical(member); !slices.Contains(names, name) {
				names = append(names, name)
			}
			if len(names) > maxVaryNames {
				return nil, true
			}
		}
	}
	slices.Sort(names)
	return names, false
}

// AppendVariantField appends to dst what one selecting field adds to the key of a
// variant, and returns the longer slice: the name, whether the field is there,
// and its value, each behind its length. No two different lists of fields give
// the same bytes, whatever the values hold.
//
// Names are those of VaryNames, in their order. Values are the field's lines in
// the request that is forwarded, after the removal of hop-by-hop fields; without
// a line the field is absent, which differs from empty. Lines are trimmed and
// joined by ", ", which does not change their meaning (RFC 9111 section 4.1).
// AppendVariantField keeps no argument, and allocates only if dst has to grow.
func AppendVariantField(dst []byte, name string, values [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	if len(values) == 0 {
		return append(dst, 0)
	}
	size := (len(values) - 1) * len(", ")
	for _, v := range values {
		size += len(trim(v))
	}
	dst = append(dst, 1)
	dst = binary.AppendUvarint(dst, uint64(size))
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, trim(v)...)
	}
	return dst
}
