package rfc9111

import (
	"bytes"
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
// round commas and semicolons do not count either, nor does the order of codings,
// which has no meaning (RFC 9110 section 12.5.3). None of this changes the meaning of
// a value (RFC 9111 section 4.1); weights are left alone.
//
// AppendVariantField keeps no argument, and allocates only if dst has to grow.
func AppendVariantField(dst []byte, name string, values [][]byte) []byte {
	return Variants{}.AppendField(dst, name, values)
}

// Variants are the operator's choices for what selects a variant.
type Variants struct {
	// AnyLanguageOrder says that the order in Accept-Language does not count either.
	// It has no meaning of its own (RFC 9110 section 12.5.4), but some origins take
	// it for one.
	AnyLanguageOrder bool
}

// AppendField is AppendVariantField under these choices.
func (o Variants) AppendField(dst []byte, name string, values [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	if len(values) == 0 {
		return append(dst, variantAbsent)
	}
	switch {
	case name == "Accept-Encoding" && foldable(values):
		return appendFolded(dst, values, true)
	case name == "Accept-Language" && foldable(values):
		return appendFolded(dst, values, o.AnyLanguageOrder)
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
// next to a comma or semicolon, and with its members sorted if their order means
// nothing.
func appendFolded(dst []byte, values [][]byte, anyOrder bool) []byte {
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
	if anyOrder {
		dst = sortMembers(dst, start)
	}
	return dst
}

// maxSorted is how many members a list may have to be sorted. A longer one selects
// a variant of its own order.
const maxSorted = 32

// sortMembers sorts the members of the list in dst[start:]. It works in the room
// behind, so that it allocates only if dst has to grow.
func sortMembers(dst []byte, start int) []byte {
	type span struct{ from, to int }
	var members [maxSorted]span
	member := func(s span) []byte { return dst[s.from:s.to] }
	n := 0
	for at, done := start, false; !done; n++ {
		if n == maxSorted {
			return dst
		}
		s := span{at, len(dst)}
		if i := bytes.IndexByte(dst[at:], ','); i >= 0 {
			s.to = at + i
		}
		at, done = s.to+1, s.to == len(dst)
		i := n
		for ; i > 0 && bytes.Compare(member(s), member(members[i-1])) < 0; i-- {
			members[i] = members[i-1]
		}
		members[i] = s
	}
	end := len(dst)
	for i, s := range members[:n] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, member(s)...)
	}
	copy(dst[start:], dst[end:])
	return dst[:end]
}
