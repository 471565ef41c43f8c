package field

// Usual reports whether name has only letters, digits and hyphens. Some origins confuse
// any other name with a usual one: CGI and its successors replace every other
// character, and the hyphen, by an underscore (RFC 3875 section 4.1.18).
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

// Hyphenated returns name in canonical form, with every character that is no letter,
// digit or hyphen replaced by a hyphen: the usual name with which an origin may confuse
// it. It allocates nothing if name is already that.
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
