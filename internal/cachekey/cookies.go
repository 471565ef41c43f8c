package cachekey

import (
	"bytes"
	"slices"
	"strings"

	"edgeproxy/internal/field"
)

var semicolon = []byte(";")

// mostCookies is how many cookies a line may have to be readable: as many as browsers
// send at most. Beyond some number servers drop the rest, or refuse.
const mostCookies = 180

// appendCookies appends the kind of what follows, the names in the rules, each with
// its values if cookies can be told apart, and the lines themselves if not.
func (r *Rules) appendCookies(dst []byte, lines [][]byte) []byte {
	if !Readable(lines) {
		dst = append(dst, whole)
		for _, name := range r.cookies {
			dst = appendPart(dst, name)
		}
		return appendLines(dst, lines)
	}
	var line []byte
	if len(lines) == 1 {
		line = lines[0]
	}
	dst = append(dst, named)
	for _, name := range r.cookies {
		dst = appendPart(dst, name)
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
			dst = appendPart(append(dst, 1), piece[len(name)+1:])
		}
	}
	return append(dst, 0)
}

// nextCookie takes the first cookie off a line: what stands before a semicolon, which
// one space may follow.
func nextCookie(line []byte) (piece, rest []byte) {
	piece, rest, _ = bytes.Cut(line, semicolon)
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return piece, rest
}

// Ambiguous reports whether the rules name cookies and an origin may read them in the
// lines of Cookie otherwise than they are keyed: the lines are not Readable, a cookie that
// is named comes twice, or another may be taken for it.
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
// each of their cookies. It allocates nothing.
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

// Readable reports whether only one reading fits the lines of Cookie, so that all
// parsers find the same cookies in them: there is one line at most, and it is a
// cookie-string by RFC 6265 section 4.2.1, whose space behind a semicolon may be left
// out. Names that begin with a dollar sign, and those of the attributes of Set-Cookie,
// have some parsers read the rest in another way or not at all (RFC 2965). It allocates
// nothing.
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
		if n == mostCookies || !plainCookie(piece) {
			return false
		}
	}
	return true
}

// plainCookie reports whether piece is a name and a value of which all parsers
// think the same.
func plainCookie(piece []byte) bool {
	name := cookieName(piece)
	if len(name) == len(piece) || !validCookieName(name) || attribute(name) {
		return false
	}
	value := piece[len(name)+1:]
	if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return octets(value)
}

// cookieName returns what stands before the first equals sign, all of piece if there is
// none.
func cookieName(piece []byte) []byte {
	name, _, _ := bytes.Cut(piece, []byte("="))
	return name
}

// validCookieName reports whether name can be one. A dollar sign at its start makes
// some parsers read the whole line by RFC 2965, with commas and quotes.
func validCookieName[T string | []byte](name T) bool {
	return field.ValidName(name) && name[0] != '$'
}

// attribute reports whether name is that of an attribute of Set-Cookie, in any case.
func attribute[T string | []byte](name T) bool {
	for _, a := range [...]string{"path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "version", "comment", "partitioned"} {
		if len(name) == len(a) && strings.EqualFold(string(name), a) {
			return true
		}
	}
	return false
}

// octets reports whether b has only bytes of a cookie's value: no control byte, no
// space, and none of the five signs that some parsers give a meaning.
func octets(b []byte) bool {
	for _, c := range b {
		switch {
		case c <= ' ', c >= 0x7f, c == '"', c == ',', c == ';', c == '\\':
			return false
		}
	}
	return true
}

// resembles reports whether some origin may take a cookie of this name for one called
// want, or with prefix for one that begins so: names are decoded by some, their case
// counts for nothing to others, PHP makes an underscore of a dot, and reads an element of
// an array behind a bracket.
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

// folded returns a letter in lower case, a digit as it is, and one sign for all others.
func folded(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return c
	}
	return '_'
}
