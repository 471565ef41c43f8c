package cachekey

import (
	"bytes"
	"slices"
)

// AppendTarget appends the target that is keyed to dst: raw, which is a path and
// perhaps a query, without the parameters that the rules ignore, sorted if they say
// so. The path and the bytes of each parameter stay as they are. Without query
// rules the target is raw itself.
//
// The same target must be forwarded to the origin: see the laws of the package.
//
// Parameters lie between ampersands and end their name at the first "=". Names are
// compared as an origin reads them: percent-decoded once, "+" as a space (WHATWG
// URL standard, section 5.1), so that no spelling of a name slips past its rule.
// Empty parameters are dropped, and a question mark that nothing follows.
//
// It gives the same target for its own result. It never appends more bytes than
// raw has, and does not allocate if dst has room for them, but for sorting more
// than 32 parameters.
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

// Prefix returns what of a prefix of targets can be looked for among keyed targets:
// the prefix itself, or its path where query rules may have changed what follows. A
// purge by prefix then purges more than it was asked for, rather than less. The
// result shares the bytes of prefix.
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

// parameter is one of a query, between from and to; name is where its name ends. No
// target comes near the limit of the numbers.
type parameter struct{ from, name, to int32 }

// usualParameters is how many can be sorted without allocating.
const usualParameters = 32

// appendSorted appends the parameters of query that are kept, by their decoded
// names and then by their place. An origin takes names with the same decoded form
// for one, and may answer by the order of its values.
func (r *Rules) appendSorted(dst, query []byte) []byte {
	var room [usualParameters]parameter
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
