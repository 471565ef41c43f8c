package wire

import "bytes"

// AppendNormal appends target, a path with or without a query, in its normal form to dst: what RFC 3986 section 6.2.2 holds to be one URI
// has one spelling. An encoded letter or digit, and an encoded "-", ".", "_" or "~", is written as it is. All other escapes have hexadecimal
// digits in upper case, and bytes beyond ASCII, which no URI has, are escaped. Everything else stays: an escape of a reserved character is not
// that character, and dot segments are not resolved.
//
// The normal form decodes to the same bytes as target, also for an origin that lets a percent sign without two digits stand for itself:
// no byte that is decoded joins such a percent sign to an escape that was not there. So AppendNormal is idempotent. It allocates nothing
// when dst has room.
func AppendNormal(dst, target []byte) []byte {
	if kindsOf(target)&spelled == 0 {
		return append(dst, target...)
	}
	start := len(dst)
	for i := 0; i < len(target); i++ {
		c := target[i]
		switch {
		case c > 0x7f:
			dst = AppendEscape(dst, c)
			continue
		case c == '%':
			decoded, n := escaped(target[i:])
			if n == 1 {
				break
			}
			i += n - 1
			if !unreserved(decoded) || joins(dst[start:]) {
				dst = AppendEscape(dst, decoded)
				continue
			}
			c = decoded
		}
		dst = append(dst, c)
	}
	return dst
}

// joins reports whether a byte behind done, which is in normal form, could belong to a percent sign that encodes nothing.
func joins(done []byte) bool {
	n := len(done)
	return n > 0 && done[n-1] == '%' || n > 1 && done[n-2] == '%'
}

// AppendEscape appends the percent-encoding of c, with capital digits (RFC 3986 section 2.1).
func AppendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// unreserved reports whether c means the same as its escape (RFC 3986 section 2.3).
func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// Prefix returns t as the beginning of targets: the normal forms of all targets begin with it that begin with what t was parsed from. An escape
// of which the end is not there is left out, since it may be of a character that normal forms have as it is.
func (t Target) Prefix() Target {
	last := t.Normal[max(len(t.Normal)-2, 0):]
	at := bytes.LastIndexByte(last, '%')
	if at < 0 || at+1 < len(last) && Unhex(last[at+1]) == 0xff {
		return t
	}
	t.Normal = t.Normal[:len(t.Normal)-len(last)+at]
	t.Path = t.Path[:min(len(t.Path), len(t.Normal))]
	return t
}
