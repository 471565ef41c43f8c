package cachekey

import (
	"bytes"
	"slices"
)

// AppendTarget appends the target for the key to dst: raw, a path with or without a
// query, without the parameters that the rules ignore, and sorted if the rules say so.
// The path and the bytes of each parameter do not change, so the caller has raw in its
// normal form where spellings are to share a key. Without query rules the target is raw
// itself.
//
// The same target must be forwarded to the origin: see the package comment.
//
// Parameters are separated by ampersands; a name ends at the first "=". Names are compared
// as an origin reads them: percent-decoded once, "+" as a space (WHATWG URL standard,
// section 5.1). So no spelling of a name avoids its rule. Empty parameters are dropped, and
// so is a question mark at the end.
//
// AppendTarget is idempotent. It never appends more bytes than raw has. It does not
// allocate if dst has room for them, except to sort more than 32 parameters.
func (r *Rules) AppendTarget(dst, raw []byte) []byte {
	path, query, found := bytes.Cut(raw, []byte("?"))
	if !r.query || !found {
		return append(dst, raw...)
	}
	dst = append(dst, path...)
	if r.sort {
		return r.appendSorted(dst, query)
	}
	separator := byte('?')
	for piece := range bytes.SplitSeq(query, []byte("&")) {
		if r.keeps(parameterName(piece)) && len(piece) > 0 {
			dst = append(append(dst, separator), piece...)
			separator = '&'
		}
	}
	return dst
}

// Prefix returns the prefix of keyed targets for a prefix of targets: prefix itself, or its
// path if query rules may have changed the rest. A purge by prefix then purges more than it
// was asked for, rather than less. The result shares the bytes of prefix.
func (r *Rules) Prefix(prefix []byte) []byte {
	if !r.query {
		return prefix
	}
	path, _, _ := bytes.Cut(prefix, []byte("?"))
	return path
}

// KeepsParameter reports whether AppendTarget leaves all parameters of this decoded name as they are.
// Their place among others may change.
func (r *Rules) KeepsParameter(name string) bool {
	return !r.query || r.names.matchDecoded([]byte(name)) == r.keep
}

// keeps reports whether a parameter of this name, as received, is keyed.
func (r *Rules) keeps(name []byte) bool {
	return r.names.match(name) == r.keep
}

// parameterName returns the name of a parameter as received.
func parameterName(piece []byte) []byte {
	name, _, _ := bytes.Cut(piece, []byte("="))
	return name
}

// parameter is a parameter of a query, from from to to; name is the end of its name. Targets
// are far shorter than the limit of int32.
type parameter struct{ from, name, to int32 }

// stackParameters is how many parameters can be sorted without allocating.
const stackParameters = 32

// appendSorted appends the parameters of query that are kept, sorted by their decoded
// names and then by their place. For an origin, names with the same decoded form are one
// name, and the order of its values may matter.
func (r *Rules) appendSorted(dst, query []byte) []byte {
	var room [stackParameters]parameter
	list := room[:0]
	if n := bytes.Count(query, []byte("&")) + 1; n > len(room) {
		list = make([]parameter, 0, n)
	}
	for from := 0; from < len(query); {
		to := len(query)
		if i := bytes.IndexByte(query[from:], '&'); i >= 0 {
			to = from + i
		}
		if name := parameterName(query[from:to]); to > from && r.keeps(name) {
			list = append(list, parameter{from: int32(from), name: int32(from + len(name)), to: int32(to)})
		}
		from = to + 1
	}
	slices.SortFunc(list, func(a, b parameter) int {
		if c := compareDecoded(query[a.from:a.name], query[b.from:b.name]); c != 0 {
			return c
		}
		return int(a.from - b.from)
	})
	separator := byte('?')
	for _, p := range list {
		dst = append(append(dst, separator), query[p.from:p.to]...)
		separator = '&'
	}
	return dst
}
