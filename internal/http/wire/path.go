package wire

// AppendPath appends to dst the normalized path that routes match: percent-decoded,
// with dot segments resolved (RFC 3986 section 5.2.4) and without empty segments.
// So no spelling of a path avoids its route. The result begins with a slash, except
// for "*". It is never forwarded and never part of a key. It allocates nothing when
// dst has room.
func AppendPath(dst, path []byte) []byte {
	if len(path) == 1 && path[0] == '*' {
		return append(dst, '*')
	}
	start := len(dst)
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' {
			decoded, n := escaped(path[i:])
			c, i = decoded, i+n-1
		}
		if c == '/' {
			dst = closeSegment(dst, start)
		}
		dst = append(dst, c)
	}
	return closePath(dst, start)
}

// escaped decodes what p begins with, a percent sign, and returns how many bytes that was. A percent sign that encodes nothing stands for
// itself.
func escaped(p []byte) (c byte, n int) {
	if len(p) > 2 {
		if hi, lo := Unhex(p[1]), Unhex(p[2]); hi != 0xff && lo != 0xff {
			return hi<<4 | lo, 3
		}
	}
	return '%', 1
}

// closePath ends the path dst[start:], whose last segment has not been closed.
func closePath(dst []byte, start int) []byte {
	trailing := endsInDots(dst[start:])
	dst = closeSegment(dst, start)
	if trailing || len(dst) == start {
		dst = append(dst, '/')
	}
	return dst
}

// closeSegment removes the last segment of dst[start:] if it is empty or a dot
// segment. ".." also removes the segment before it.
func closeSegment(dst []byte, start int) []byte {
	i := lastSlash(dst, start)
	if i < start {
		return dst
	}
	switch string(dst[i+1:]) {
	case "", ".":
		return dst[:i]
	case "..":
		dst = dst[:i]
		if j := lastSlash(dst, start); j >= start {
			return dst[:j]
		}
		return dst[:start]
	}
	return dst
}

func endsInDots(path []byte) bool {
	i := lastSlash(path, 0)
	switch string(path[i+1:]) {
	case "", ".", "..":
		return true
	}
	return false
}

func lastSlash(b []byte, start int) int {
	for i := len(b) - 1; i >= start; i-- {
		if b[i] == '/' {
			return i
		}
	}
	return start - 1
}
