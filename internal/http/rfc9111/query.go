package rfc9111

import (
	"bytes"
	"slices"

	"edgeproxy/internal/http/wire"
)

// maxParameters limits the parameters of a query that is parsed. A query with more
// is compared as it is.
const maxParameters = 256

// parameter is one decoded name and value, by their offsets in a buffer. With
// slices instead, the buffer could not stay on the stack.
type parameter struct{ name, value, end int }

// AppendQuery appends the normalized form of query, which has no question mark, to
// dst and returns the longer slice. Two queries of one path are equivalent if their
// normalized forms are the same bytes. The converse holds too, except for bytes
// that are not UTF-8, which are not normalized, and for queries of more than 256
// parameters.
//
// The result is itself a query: the parameters that matter, as
// application/x-www-form-urlencoded, but in the normal form of URIs (wire.AppendNormal):
// "~" is no escape. It is empty for an empty query, and for none.
// AppendQuery keeps neither slice. It allocates only if dst has to grow or query is
// long.
func (v *NoVarySearch) AppendQuery(dst, query []byte) []byte {
	var bufRoom [512]byte
	var room [32]parameter
	buf, found, asked := bufRoom[:0], room[:0], 0
	if len(query) > len(bufRoom) {
		buf = make([]byte, 0, len(query)) // a decoded query is never longer
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

// appendEncoded appends s with everything percent-encoded but letters, digits and
// "*-._~"; a space is "+".
func appendEncoded(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case 'a' <= lower(c) && lower(c) <= 'z', '0' <= c && c <= '9', c == '*', c == '-', c == '.', c == '_', c == '~':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = wire.AppendEscape(dst, c)
		}
	}
	return dst
}

// compareNames compares a listed name with one of a query, as strings.Compare does.
func compareNames(a string, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
