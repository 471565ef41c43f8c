package rfc9111

import (
	"encoding/binary"
	"strings"
)

// How the value of a selecting field follows its name in the key.
const (
	variantAbsent = iota
	variantAsSent // its length as a varint, then the value
	variantFolded // its length in four bytes, then the value in its normal form
)

// AppendVariantField appends to dst what one selecting field adds to the key of a
// variant, and returns the longer slice: the name, whether the field is there,
// and its value, each behind its length. No two different lists of fields give
// the same bytes, whatever the values hold.
//
// Names are those of VaryNames, in their order. Values are the field's lines in
// the request that is forwarded, after the removal of hop-by-hop fields; without
// a line the field is absent, which differs from empty. Lines are trimmed and
// joined by ", ". In Accept-Encoding and Accept-Language case and the white space
// round commas and semicolons do not count either. None of this changes the meaning
// of a value (RFC 9111 section 4.1); order, and weights, are left alone.
//
// AppendVariantField keeps no argument, and allocates only if dst has to grow.
func AppendVariantField(dst []byte, name string, values [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	if len(values) == 0 {
		return append(dst, variantAbsent)
	}
	if (name == "Accept-Encoding" || name == "Accept-Language") && foldable(values) {
		return appendFolded(dst, values)
	}
	size := (len(values) - 1) * len(", ")
	for _, v := range values {
		size += len(trim(v))
	}
	dst = append(dst, variantAsSent)
	dst = binary.AppendUvarint(dst, uint64(size))
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, trim(v)...)
	}
	return dst
}

// foldable reports whether the lines hold nothing but what a list of codings or
// language ranges is made of (RFC 9110 sections 12.5.3 and 12.5.4): whatever else
// is in it may mean anything.
func foldable(values [][]byte) bool {
	for _, v := range values {
		for _, c := range v {
			letter := 'a' <= lower(c) && lower(c) <= 'z'
			if !letter && strings.IndexByte("0123456789-*._,;= \t", c) < 0 {
				return false
			}
		}
	}
	return true
}

// appendFolded appends the lines as one list in lower case, without white space
// next to a comma or semicolon.
func appendFolded(dst []byte, values [][]byte) []byte {
	dst = append(dst, variantFolded, 0, 0, 0, 0)
	start := len(dst)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		for v = trim(v); len(v) > 0; {
			end := 0
			for end < len(v) && v[end] != ',' && v[end] != ';' {
				end++
			}
			for _, c := range trim(v[:end]) {
				dst = append(dst, lower(c))
			}
			if end == len(v) {
				break
			}
			dst, v = append(dst, v[end]), v[end+1:]
		}
	}
	binary.BigEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return dst
}
