package rfc9111

import (
	"bytes"
	"slices"

	"edgeproxy/internal/wire"
)

// maxParameters bounds the parameters of a query that is taken apart. One with more
// is compared as it stands.
const maxParameters = 256

// upperHex are the digits of percent-encoding (RFC 3986 section 2.1).
const upperHex = "0123456789ABCDEF"

// parameter is one decoded name and value, by their places in a buffer; with
// slices in it, the buffer could not stay on the stack.
type parameter struct{ name, value, end int }

// AppendQuery appends what is left to compare of a query, which is given without
// its question mark, and returns the longer slice. Two queries of one path mean
// the same resource if they give the same bytes; the converse holds but for bytes
// that are not UTF-8, which stay as different as they are, and for queries of more
// than 256 parameters.
//
// The result is itself a query, of the parameters that matter, in one way of
// writing (application/x-www-form-urlencoded); nothing means an empty one or none
// at all. AppendQuery keeps neither slice, and allocates only if dst has to grow or
// query is long.
func (v *NoVarySearch) AppendQuery(dst, query []byte) []byte {
	var bufRoom [512]byte
	var room [32]parameter
	buf, found, asked := bufRoom[:0], room[:0], 0
	if len(query) > len(bufRoom) {
		buf = make([]byte, 0, len(query)) // decoding never makes it longer
	}
	for rest := query; len(rest) > 0; {
		i := index(rest, '&')
		pair := rest[:i]
		if rest = rest[min(i+1, len(rest)):]; len(pair) == 0 {
			continue
		}
		if asked++; asked > maxParameters {
			return append(dst, query...)
		}
		eq := index(pair, '=')
		p := parameter{name: len(buf)}
		buf = wire.AppendQueryDecoded(buf, pair[:eq])
		p.value = len(buf)
		buf = wire.AppendQueryDecoded(buf, pair[min(eq+1, len(pair)):])
		p.end = len(buf)
		if v.matters(buf[p.name:p.value]) {
			found = append(found, p)
		}
	}
	if v.Unordered {
		slices.SortStableFunc(found, func(a, b parameter) int {
			return bytes.Compare(buf[a.name:a.value], buf[b.name:b.value])
		})
	}
	for i, p := range found {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(appendEncoded(dst, buf[p.name:p.value]), '=')
		dst = appendEncoded(dst, buf[p.value:p.end])
	}
	return dst
}

// appendEncoded appends s in the one form in which nothing but letters, digits and
// "*-._" stands for itself.
func appendEncoded(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case 'a' <= lower(c) && lower(c) <= 'z', '0' <= c && c <= '9', c == '*', c == '-', c == '.', c == '_':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// compareNames orders a name of a list and one of a query as strings.Compare does.
func compareNames(a string, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
