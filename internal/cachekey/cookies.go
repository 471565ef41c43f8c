package cachekey

import "bytes"

var semicolon = []byte(";")

// appendCookies appends the kind of what follows, the names in the rules, each with
// its values if cookies can be told apart, and the lines themselves if not.
func (r *Rules) appendCookies(dst []byte, lines [][]byte) []byte {
	if len(lines) > 1 || len(lines) == 1 && !plainCookies(lines[0]) {
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

// appendValues appends for each cookie of this name in line a 1 and its value behind
// its length, then a 0.
func appendValues(dst, line []byte, name string) []byte {
	for more := len(line) > 0; more; {
		var piece []byte
		piece, line, more = bytes.Cut(line, semicolon)
		piece = bytes.Trim(piece, " \t")
		if len(piece) > len(name) && piece[len(name)] == '=' && string(piece[:len(name)]) == name {
			dst = appendPart(append(dst, 1), piece[len(name)+1:])
		}
	}
	return append(dst, 0)
}

// plainCookies reports whether all parsers find the same cookies in line: it is a
// cookie-string by RFC 6265 section 4.2.1, but for spaces around the semicolons,
// empty pieces, and names, where brackets and the like separate nothing.
func plainCookies(line []byte) bool {
	for more := len(line) > 0; more; {
		var piece []byte
		piece, line, more = bytes.Cut(line, semicolon)
		if piece = bytes.Trim(piece, " \t"); len(piece) > 0 && !plainCookie(piece) {
			return false
		}
	}
	return true
}

// plainCookie reports whether piece is a name and a value of which all parsers
// think the same.
func plainCookie(piece []byte) bool {
	end := bytes.IndexByte(piece, '=')
	if end < 0 || !validCookieName(piece[:end]) {
		return false
	}
	value := piece[end+1:]
	if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return octets(value)
}

// validCookieName reports whether name can be one. A dollar sign at its start makes
// some parsers read the whole line by RFC 2965, with commas and quotes.
func validCookieName(name []byte) bool {
	return len(name) > 0 && name[0] != '$' && bytes.IndexByte(name, '=') < 0 && octets(name)
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
