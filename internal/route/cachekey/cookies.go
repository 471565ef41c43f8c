package cachekey

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
)

var semicolon = []byte(";")

// maxCookies is the largest number of cookies of a readable line: browsers send no more.
// Beyond some number, servers drop cookies or refuse the request.
const maxCookies = 180

// appendCookies appends the kind of what follows and the names in the rules. If the lines
// are readable, each name has its values behind it; otherwise the lines follow.
func (r *Rules) appendCookies(dst []byte, lines [][]byte) []byte {
	if !Readable(lines) {
		dst = append(dst, cookieLines)
		for _, name := range r.cookies {
			dst = appendLengthPrefixed(dst, name)
		}
		return appendLines(dst, lines)
	}
	var line []byte
	if len(lines) == 1 {
		line = lines[0]
	}
	dst = append(dst, cookieValues)
	for _, name := range r.cookies {
		dst = appendLengthPrefixed(dst, name)
		dst = appendValues(dst, line, name)
	}
	return dst
}

// appendValues appends for each cookie of this name in line, which is readable, a 1 and
// its value behind its length, then a 0.
func appendValues(dst, line []byte, name string) []byte {
	for len(line) > 0 {
		var piece []byte
		piece, line = nextCookie(line)
		if len(piece) > len(name) && piece[len(name)] == '=' && string(piece[:len(name)]) == name {
			dst = appendLengthPrefixed(append(dst, 1), piece[len(name)+1:])
		}
	}
	return append(dst, 0)
}

// nextCookie returns the first cookie of a line, up to the semicolon, and the rest without
// one space at its beginning.
func nextCookie(line []byte) (piece, rest []byte) {
	piece, rest, _ = bytes.Cut(line, semicolon)
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return piece, rest
}

// Ambiguous reports whether the rules name cookies, and an origin may read other values for
// them than the keyed ones: the lines of Cookie are not Readable, a named cookie comes twice,
// or another cookie may be taken for it.
func (r *Rules) Ambiguous(lines [][]byte) bool {
	if len(r.cookies) == 0 || len(lines) == 0 {
		return false
	}
	if !Readable(lines) {
		return true
	}
	for _, name := range r.cookies {
		found := false
		for line := lines[0]; len(line) > 0; {
			var piece []byte
			piece, line = nextCookie(line)
			got := cookieName(piece)
			exact := string(got) == name
			if exact && found || !exact && resembles(got, name, false) {
				return true
			}
			found = found || exact
		}
	}
	return false
}

// HasAllCookies reports whether every cookie in the lines of Cookie is in the key: the lines are Readable, and the rules name
// each of their cookies. It does not allocate.
func (r *Rules) HasAllCookies(lines [][]byte) bool {
	if len(lines) == 0 {
		return true
	}
	if len(r.cookies) == 0 || !Readable(lines) {
		return false
	}
	for line := lines[0]; len(line) > 0; {
		var piece []byte
		piece, line = nextCookie(line)
		if name := cookieName(piece); !slices.ContainsFunc(r.cookies, func(named string) bool { return named == string(name) }) {
			return false
		}
	}
	return true
}

// OtherCookies yields the name of each cookie in the lines of Cookie that the rules do not name, in order. What is no valid name is left out.
func (r *Rules) OtherCookies(lines [][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, line := range lines {
			for piece := range bytes.SplitSeq(line, semicolon) {
				name := bytes.Trim(cookieName(piece), " \t")
				if !validCookieName(name) || slices.ContainsFunc(r.cookies, func(named string) bool { return named == string(name) }) {
					continue
				}
				if !yield(name) {
					return
				}
			}
		}
	}
}

// Readable reports whether all parsers find the same cookies in the lines of Cookie: there
// is at most one line, and it is a cookie-string by RFC 6265 section 4.2.1; the space behind
// a semicolon may be missing. Names that begin with a dollar sign, and names of attributes of
// Set-Cookie, are not readable: some parsers read the rest in another way (RFC 2965). It does
// not allocate.
func Readable(lines [][]byte) bool {
	if len(lines) != 1 {
		return len(lines) == 0
	}
	line := lines[0]
	if n := len(line); n > 0 && (line[n-1] == ';' || line[n-1] == ' ') {
		return false
	}
	for n := 0; len(line) > 0; n++ {
		var piece []byte
		piece, line = nextCookie(line)
		if n == maxCookies || !unambiguousCookie(piece) {
			return false
		}
	}
	return true
}

// unambiguousCookie reports whether piece is a name and a value that all parsers read in the
// same way.
func unambiguousCookie(piece []byte) bool {
	name := cookieName(piece)
	if len(name) == len(piece) || !validCookieName(name) || isAttribute(name) {
		return false
	}
	value := piece[len(name)+1:]
	if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return validCookieValue(value)
}

// cookieName returns the part of piece before the first equals sign, or all of piece.
func cookieName(piece []byte) []byte {
	name, _, _ := bytes.Cut(piece, []byte("="))
	return name
}

// validCookieName reports whether name is a valid name of a cookie. A dollar sign at its
// beginning makes some parsers read the whole line by RFC 2965, with commas and quotes.
func validCookieName[T string | []byte](name T) bool {
	return field.ValidName(name) && name[0] != '$'
}

// isAttribute reports whether name is an attribute of Set-Cookie, without case.
func isAttribute[T string | []byte](name T) bool {
	for _, a := range [...]string{"path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "version", "comment", "partitioned"} {
		if len(name) == len(a) && strings.EqualFold(string(name), a) {
			return true
		}
	}
	return false
}

// validCookieValue reports whether b has only bytes of a cookie's value (RFC 6265 section
// 4.1.1): ASCII without control bytes, space, quote, comma, semicolon and backslash.
func validCookieValue(b []byte) bool {
	for _, c := range b {
		switch {
		case c <= ' ', c >= 0x7f, c == '"', c == ',', c == ';', c == '\\':
			return false
		}
	}
	return true
}

// resembles reports whether some origin may take a cookie called name for one called want,
// or, with prefix, for one whose name begins with want. Some origins decode names, others
// ignore case; PHP turns a dot into an underscore, and reads a bracket as an array index.
func resembles(name []byte, want string, prefix bool) bool {
	d := decoder{rest: name}
	for i := range len(want) {
		c, ok := d.next()
		if !ok || folded(c) != folded(want[i]) {
			return false
		}
	}
	c, more := d.next()
	return prefix || !more || c == '['
}

// folded returns a letter in lower case, a digit unchanged, and an underscore for other bytes.
func folded(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return c
	}
	return '_'
}
