package main

import "strings"

// maxTargetBytes is the longest target sent as it is; edgeproxy refuses targets
// over 8 KiB.
const maxTargetBytes = 4096

// requestTarget returns what to send for a logged target, and whether the proxy
// will take it as an ordinary, storable one. Bytes that RFC 3986 has no place for
// in a path or a query are percent-encoded.
func requestTarget(logged string) (target string, plain bool) {
	target = escape(logged)
	path, _, _ := strings.Cut(target, "?")
	plain = strings.HasPrefix(target, "/") && len(target) <= maxTargetBytes && !ambiguous(path)
	return target, plain
}

func escape(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = keeps(s, i)
	}
	if clean {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; keeps(s, i) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// keeps reports whether byte i of s stands for itself: a pchar, "/" or "?" of
// RFC 3986 section 3.3 and 3.4, or the start of a percent-encoding.
func keeps(s string, i int) bool {
	c := s[i]
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '%':
		return i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
	}
	return strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// ambiguous reports whether an origin may read path as another resource than its
// text says. Such targets are passed and never stored, so they measure nothing.
func ambiguous(path string) bool {
	low := strings.ToLower(path)
	for _, s := range [...]string{"//", "%2f", "%5c", "%00"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	for segment := range strings.SplitSeq(strings.ReplaceAll(low, "%2e", "."), "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
