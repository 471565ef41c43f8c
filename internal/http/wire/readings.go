package wire

import "bytes"

// Readings returns the paths, decoded, that an origin may take the raw path for, beside what AppendPath makes of it. anywhere says that it
// may be any path: it has a dot segment or a NUL. Which segments a dot segment takes away depends on whether the origin resolves
// it before or after decoding, and with which separators.
//
// Without these, origins differ in whether empty segments count, whether a backslash is a slash, whether a segment ends at a semicolon,
// whether the path ends at an encoded ? or # (some decode it before they look for the query), and whether // at the beginning names a host.
// Readings returns every combination of these, at most 32. An encoded slash counts as a slash.
func Readings(path []byte) (all [][]byte, anywhere bool) {
	var text []byte
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' {
			decoded, n := escaped(path[i:])
			c, i = decoded, i+n-1
		}
		text = append(text, c)
	}
	if bytes.IndexByte(text, 0) >= 0 || HasDotSegment(text) {
		return nil, true
	}
	all = [][]byte{text}
	for _, read := range []func([]byte) []byte{withoutQuery, withSlashes, withoutParameters, withoutHost, withoutEmptySegments} {
		for _, p := range all {
			if q := read(p); !bytes.Equal(p, q) {
				all = append(all, q)
			}
		}
	}
	return all, false
}

// ReadAlike reports whether Readings has but one path for a target that is not Ambiguous: path is what AppendPath makes of its path.
func ReadAlike(path []byte) bool {
	return bytes.IndexByte(path, ';') < 0 && bytes.IndexByte(path, '?') < 0 && bytes.IndexByte(path, '#') < 0
}

// HasDotSegment reports whether a segment of path, which is decoded, is . or .. to some origin: one that takes a backslash for a slash, or
// takes away what follows a semicolon, a NUL, a ? or a #. It allocates nothing.
func HasDotSegment(path []byte) bool {
	dots, other := 0, false // dots in the segment so far; whether it has another byte
	for _, c := range path {
		switch c {
		case '.':
			dots++
		case '/', '\\', ';', '?', '#', 0:
			if isDots(dots, other) {
				return true
			}
			dots, other = 0, c != '/' && c != '\\'
		default:
			other = true
		}
	}
	return isDots(dots, other)
}

func isDots(dots int, other bool) bool { return !other && (dots == 1 || dots == 2) }

func withoutQuery(path []byte) []byte {
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		return path[:end]
	}
	return path
}

func withSlashes(path []byte) []byte { return bytes.ReplaceAll(path, []byte("\\"), slash) }

func withoutParameters(path []byte) (out []byte) {
	for s := range bytes.SplitSeq(path[1:], slash) { // without the slash that it begins with
		s, _, _ = bytes.Cut(s, []byte(";"))
		out = append(append(out, '/'), s...)
	}
	return out
}

func withoutHost(path []byte) []byte {
	if !bytes.HasPrefix(path, []byte("//")) {
		return path
	}
	_, rest, _ := bytes.Cut(bytes.TrimLeft(path, "/"), slash)
	return append([]byte("/"), rest...)
}

func withoutEmptySegments(path []byte) (out []byte) {
	for _, c := range path {
		if c == '/' {
			out = closeSegment(out, 0)
		}
		out = append(out, c)
	}
	return closePath(out, 0)
}
