package cachekey

import (
	"bytes"
	"encoding/binary"
	"slices"

	"edgeproxy/internal/field"
)

// Bytes that tell parts of the selectors apart.
const (
	// opening begins selectors. The part of a variant begins with the length of a
	// field name, which is never 0, and a URL part alone has nothing there.
	opening = 0

	named = 'n' // the values of the cookies named follow
	whole = 'w' // the Cookie lines follow
	owner = 'r' // the name of a route follows; it stands behind opening
)

// Selects reports whether AppendSelectors adds anything.
func (r *Rules) Selects() bool { return len(r.headers)+len(r.cookies) > 0 || r.route != "" }

// Reads reports whether the request field of this canonical name is a part of
// the selectors, whole or, as with Cookie, by what is in it.
func (r *Rules) Reads(name string) bool {
	return name == "Cookie" && len(r.cookies) > 0 || slices.Contains(r.headers, name)
}

// AppendSelectors appends what the header and cookie rules, and Within, add to the key
// behind the URL part, and returns the longer slice; without any of them, dst.
//
// Lines returns the lines of the request field with a canonical name, as they are
// forwarded: after the removal of hop-by-hop fields, and byte for byte, for a
// Cookie line that was parsed and written anew is not what the origin reads. They
// need to live until the next call only. Lines count one by one and in order, since
// an origin may take the first, the last or all of them. No line differs from an
// empty one.
//
// Cookies are named by the rules and found in the Cookie line if that is Readable.
// Otherwise parsers disagree about where a cookie ends (quotes, commas, spaces, $Version),
// and a client could have the origin answer for another value than the one keyed: then
// the lines are keyed whole. That is never wrong, but no answer for others either:
// Ambiguous says which requests had better pass the cache by. A cookie that comes twice
// has both values in the key.
//
// AppendSelectors keeps no argument, and allocates only if dst has to grow.
func (r *Rules) AppendSelectors(dst []byte, lines func(name string) [][]byte) []byte {
	if !r.Selects() {
		return dst
	}
	dst = append(dst, opening)
	dst = binary.AppendUvarint(dst, uint64(len(r.headers)))
	for _, name := range r.headers {
		dst = appendPart(dst, name)
		dst = appendLines(dst, lines(name))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.cookies)))
	if len(r.cookies) > 0 {
		dst = r.appendCookies(dst, lines("Cookie"))
	}
	if r.route != "" { // behind opening, so it is no part of a variant
		dst = appendPart(append(dst, opening, owner), r.route)
	}
	return dst
}

// Imitates reports whether an origin may take a request field of this canonical
// name for a keyed one although it is another: the two differ in signs
// alone, which are all underscores to CGI (RFC 3875 section 4.1.18) and much that came
// after it. A client would choose what others get by such a field, so it
// must not be forwarded on this route.
func (r *Rules) Imitates(name string) bool {
	if len(r.headers) == 0 || slices.Contains(r.headers, name) {
		return false
	}
	name = field.Hyphenated(name)
	return slices.ContainsFunc(r.headers, func(keyed string) bool {
		return field.Hyphenated(keyed) == name
	})
}

// appendLines appends how many lines there are, then each, trimmed, behind its
// length.
func appendLines(dst []byte, lines [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(lines)))
	for _, line := range lines {
		dst = appendPart(dst, bytes.Trim(line, " \t"))
	}
	return dst
}

// appendPart appends b behind its length.
func appendPart[T string | []byte](dst []byte, b T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}
