package cachekey

import (
	"bytes"
	"encoding/binary"
	"slices"

	"edgeproxy/internal/http/field"
)

// Bytes that tell parts of the selectors apart.
const (
	// selectorsMark begins selectors. A variant begins with the length of a field name, which
	// is never 0, and a URL part alone has nothing there.
	selectorsMark = 0

	cookieValues = 'n' // the values of the cookies named follow
	cookieLines  = 'w' // the Cookie lines follow
	routeName    = 'r' // the name of a route follows; it stands behind opening
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
// lines returns the lines of the request field with a canonical name, byte for byte as they
// are forwarded, after the removal of hop-by-hop fields. They only need to live until the
// next call. The key has each line, in order, because an origin may use the first, the last
// or all of them. No line and an empty line are different.
//
// If the Cookie line is Readable, the key has the values of the cookies that the rules name.
// Otherwise parsers disagree about where a cookie ends (quotes, commas, spaces, $Version), and
// a client could make the origin answer for another value than the keyed one: then the key has
// the whole lines. That is safe, but the response is of no use for other clients. Ambiguous says
// which requests should bypass the cache. A cookie that comes twice has both values in the key.
//
// AppendSelectors keeps no argument, and allocates only if dst has to grow.
func (r *Rules) AppendSelectors(dst []byte, lines func(name string) [][]byte) []byte {
	if !r.Selects() {
		return dst
	}
	dst = append(dst, selectorsMark)
	dst = binary.AppendUvarint(dst, uint64(len(r.headers)))
	for _, name := range r.headers {
		dst = appendLengthPrefixed(dst, name)
		dst = appendLines(dst, lines(name))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.cookies)))
	if len(r.cookies) > 0 {
		dst = r.appendCookies(dst, lines("Cookie"))
	}
	if r.route != "" { // the place after opening: it is no part of a variant
		dst = appendLengthPrefixed(append(dst, selectorsMark, routeName), r.route)
	}
	return dst
}

// Imitates reports whether an origin may take a request field of this canonical name for a
// keyed field with another name. The two differ only in characters that CGI (RFC 3875 section
// 4.1.18) and many of its successors turn into underscores. With such a field a client could
// choose what others get, so it must not be forwarded on this route.
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
		dst = appendLengthPrefixed(dst, bytes.Trim(line, " \t"))
	}
	return dst
}

// appendLengthPrefixed appends b behind its length.
func appendLengthPrefixed[T string | []byte](dst []byte, b T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}
