package wire

// NextQueryByte returns the first byte of part, a name or value of a query as it was received, decoded: "+" is a space, "%" and
// two hexadecimal digits are one byte, any other byte is itself (WHATWG URL standard, section 5.1). n is how many bytes of part
// it takes. part must not be empty. It keeps nothing and allocates nothing. Routes, cache keys and rules for queries all decode
// queries with it, so they agree on the name and value of every parameter.
func NextQueryByte(part []byte) (c byte, n int) {
	switch c = part[0]; {
	case c == '+':
		return ' ', 1
	case c == '%' && len(part) > 2:
		if high, low := Unhex(part[1]), Unhex(part[2]); high != 0xff && low != 0xff {
			return high<<4 | low, 3
		}
	}
	return c, 1
}

// PlainQueryByte reports whether c always decodes to itself. A fast caller can then skip
// NextQueryByte.
func PlainQueryByte(c byte) bool { return c != '+' && c != '%' }

// AppendQueryDecoded appends part, decoded as by NextQueryByte, to dst. It never appends more bytes than part has.
func AppendQueryDecoded(dst, part []byte) []byte {
	for i := 0; i < len(part); {
		c, n := part[i], 1
		if !PlainQueryByte(c) {
			c, n = NextQueryByte(part[i:])
		}
		dst = append(dst, c)
		i += n
	}
	return dst
}
