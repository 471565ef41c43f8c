package field

// Usual reports whether name is made of letters, digits and hyphens alone. Any other is
// taken for one that is by some origin: CGI and much that came after it write an
// underscore for each sign (RFC 3875 section 4.1.18).
func Usual[T string | []byte](name T) bool {
	for i := 0; i < len(name); i++ {
		if !usual(name[i]) {
			return false
		}
	}
	return true
}

func usual(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-'
}

// Hyphenated returns name in canonical form with a hyphen for each sign: the usual name
// that an origin may take it for. It allocates nothing where name is that.
func Hyphenated(name string) string {
	if Usual(name) {
		return Canonical(name)
	}
	b := []byte(name)
	for i, c := range b {
		if !usual(c) {
			b[i] = '-'
		}
	}
	return Canonical(string(b))
}
