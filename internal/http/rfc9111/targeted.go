package rfc9111

import (
	"strconv"

	"github.com/dunglas/httpsfv"

	"edgeproxy/internal/http/field"
)

// directivesOf returns the directives that a shared cache in front of the origin
// must follow: those of CDN-Cache-Control if it is valid, which replaces
// Cache-Control altogether (RFC 9213 section 2.2); else those of Surrogate-Control
// if surrogate is set and it replaces Cache-Control; else those of Cache-Control,
// with the restrictions of Surrogate-Control if surrogate is set.
func directivesOf(h field.List, surrogate bool) ResponseDirectives {
	if d, ok := parseTargeted(h); ok {
		return d
	}
	if !surrogate {
		return ParseResponse(h)
	}
	s, ok := parseSurrogate(h)
	if ok {
		return s
	}
	d := ParseResponse(h)
	d.restrict(&s)
	return d
}

// parseTargeted parses CDN-Cache-Control. Ok is false if the field is absent or
// empty, exceeds the limits for structured fields, is no dictionary, or has a
// lifetime of a wrong type: it then counts as absent (RFC 9213 section 2.1). Other
// directives of a wrong type count as in Cache-Control: they may restrict, but
// never widen.
func parseTargeted(h field.List) (d ResponseDirectives, ok bool) {
	lines, ok := structuredLines(h, "Cdn-Cache-Control")
	if !ok {
		return ResponseDirectives{}, false
	}
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil || len(members.Names()) == 0 {
		return ResponseDirectives{}, false
	}
	for _, name := range members.Names() {
		m, _ := members.Get(name)
		x, typed := directiveOf(name, m)
		if !typed && (name == "max-age" || name == "s-maxage") {
			return ResponseDirectives{}, false
		}
		d.apply(&x)
	}
	d.targeted = true
	return d, true
}

// directiveOf maps a member of the dictionary to the directive it stands for (RFC
// 9213 section 2.1). Typed says that it is an integer, as lifetimes must be.
func directiveOf(name string, m httpsfv.Member) (x directive[string], typed bool) {
	x = directive[string]{name: name, hasArg: true, sure: true}
	item, ok := m.(httpsfv.Item)
	if !ok {
		return x, false
	}
	switch v := item.Value.(type) {
	case bool:
		x.hasArg = !v
	case int64:
		x.arg, typed = strconv.FormatInt(v, 10), true
		x.sure = name != "no-cache" && name != "private" // a number is no field name
	case string:
		x.arg = v
	}
	return x, typed
}
