package rfc9111

import "edgeproxy/internal/http/field"

// text is a field value: a string, or bytes that belong to the request being
// parsed.
type text interface{ string | []byte }

// trim removes optional white space (RFC 9110 section 5.6.3) from both ends.
func trim[T text](s T) T {
	i, j := 0, len(s)
	for i < j && isSpace(s[i]) {
		i++
	}
	for j > i && isSpace(s[j-1]) {
		j--
	}
	return s[i:j]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// index returns the index of the first c in s, len(s) if there is none.
func index[T text](s T, c byte) int {
	i := 0
	for i < len(s) && s[i] != c {
		i++
	}
	return i
}

// cutMember cuts the first member off a list whose members hold no quoted
// strings (RFC 9110 section 5.6.1). The member is trimmed and may be empty.
func cutMember[T text](list T) (member, rest T) {
	i := index(list, ',')
	return trim(list[:i]), list[min(i+1, len(list)):]
}

// equalFold reports whether s equals want, which is in lower case, under ASCII case
// folding.
func equalFold[T text](s T, want string) bool {
	if len(s) != len(want) {
		return false
	}
	for i := range len(want) {
		if lower(s[i]) != want[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

func equal[T, U text](a T, b U) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// digits parses s as a decimal number that saturates at limit. It fails if s is
// empty or holds anything but digits: no sign, no point, no space.
func digits[T text](s T, limit int64) (int64, bool) { return decimal(s, limit, false) }

// decimal is digits; if escapes is set, a quoted pair counts as the octet it
// quotes, as inside a quoted string (RFC 9110 section 5.6.4).
func decimal[T text](s T, limit int64, escapes bool) (int64, bool) {
	var n int64
	for i := 0; i < len(s); i++ {
		if escapes && s[i] == '\\' && i+1 < len(s) {
			i++
		}
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		if d := int64(c - '0'); n > (limit-d)/10 {
			n = limit
		} else {
			n = n*10 + d
		}
	}
	return n, len(s) > 0
}

// single returns the value of a field that may have only one. Lines with the same
// value count as one. Ok is false if the lines differ or there is none.
func single(h field.List, name string) (value string, ok bool) {
	for i := range h {
		if h[i].Name != name {
			continue
		}
		v := trim(h[i].Value)
		if ok && v != value {
			return "", false
		}
		value, ok = v, true
	}
	return value, ok
}
