package rfc9111

import (
	"slices"
	"unicode/utf8"

	"github.com/dunglas/httpsfv"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/wire"
)

// NoVarySearch says which differences between the queries of two URLs do not matter
// (draft-ietf-httpbis-no-vary-search). With the zero value all parameters and their
// order matter, but "a" and "%61" are the same.
//
// A cache keeps one for each path, and looks a request up by the query that
// AppendQuery makes.
type NoVarySearch struct {
	// Unordered says that the order of different parameters does not matter.
	Unordered bool
	// Except says that Names are the only parameters that matter; otherwise they
	// are those that do not.
	Except bool
	// Names are decoded, sorted, each once.
	Names []string
}

// ParseNoVarySearch parses the No-Vary-Search of a response. Ok is false if every
// difference matters: the field is absent, invalid or empty. The draft allows
// params or except, not both; each is a list of strings. Members of other names are
// ignored.
func ParseNoVarySearch(h field.List) (v NoVarySearch, ok bool) {
	lines, ok := structuredLines(h, "No-Vary-Search")
	if !ok {
		return NoVarySearch{}, false
	}
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return NoVarySearch{}, false
	}
	if v.Unordered, ok = flagOf(members, "key-order"); !ok {
		return NoVarySearch{}, false
	}
	params, hasParams := members.Get("params")
	except, hasExcept := members.Get("except")
	switch {
	case hasParams && hasExcept:
		return NoVarySearch{}, false
	case hasParams:
		v.Names, ok = parameterNames(params)
	case hasExcept:
		v.Except = true
		v.Names, ok = parameterNames(except)
	}
	if !ok || !v.Unordered && !v.Except && len(v.Names) == 0 {
		return NoVarySearch{}, false
	}
	return v, true
}

// Equal reports whether v and w have the same fields.
func (v *NoVarySearch) Equal(w *NoVarySearch) bool {
	return v.Unordered == w.Unordered && v.Except == w.Except && slices.Equal(v.Names, w.Names)
}

// flagOf returns a boolean member; value is false if it is absent. Ok is false if the
// member is no boolean.
func flagOf(members *httpsfv.Dictionary, name string) (value, ok bool) {
	m, present := members.Get(name)
	if !present {
		return false, true
	}
	item, _ := m.(httpsfv.Item)
	value, ok = item.Value.(bool)
	return value, ok
}

// parameterNames parses an inner list of strings, each a parameter name encoded as in a
// query.
func parameterNames(m httpsfv.Member) (names []string, ok bool) {
	list, ok := m.(httpsfv.InnerList)
	if !ok {
		return nil, false
	}
	for _, item := range list.Items {
		s, ok := item.Value.(string)
		if !ok {
			return nil, false
		}
		name := wire.AppendQueryDecoded(nil, []byte(s))
		if !utf8.Valid(name) { // the draft replaces invalid bytes, which could match other names
			return nil, false
		}
		names = append(names, string(name))
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// matters reports whether the value of a parameter of this name matters. A name
// that is not valid UTF-8 always matters: the draft replaces the invalid bytes, and
// the result could be a listed name.
func (v *NoVarySearch) matters(name []byte) bool {
	i, j := 0, len(v.Names)
	for i < j { // searched by hand, so that the caller's buffer stays on the stack
		if middle := (i + j) / 2; compareNames(v.Names[middle], name) < 0 {
			i = middle + 1
		} else {
			j = middle
		}
	}
	listed := i < len(v.Names) && equal(v.Names[i], name)
	return listed == v.Except || !utf8.Valid(name)
}
