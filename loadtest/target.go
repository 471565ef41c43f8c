package main

import "strings"

// maxTargetBytes bounds a target that is sent unchanged; edgeproxy refuses targets
// over 8 KiB.
const maxTargetBytes = 4096

// requestTarget returns the target to send for a logged one, and whether the proxy
// treats it as an ordinary, storable one. It percent-encodes bytes that RFC 3986 does
// not allow in a path or a query.
func requestTarget(logged string) (target string, plain bool) {
	target = escape(logged)
	path, _, _ := strings.Cut(target, "?")
	plain = strings.HasPrefix(target, "/") && len(target) <= maxTargetBytes && !ambiguous(path)
	return target, plain
}

func escape(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = allowedUnescaped(s, i)
	}
	if clean {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; allowedUnescaped(s, i) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// allowedUnescaped reports whether byte i of s needs no escape: it is a pchar, "/" or "?" of
// RFC 3986 sections 3.3 and 3.4, or begins a percent-encoding.
func allowedUnescaped(s string, i int) bool {
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

// ambiguous reports whether an origin may take path for another resource than its text
// says. The proxy passes such targets and never stores them, so they measure nothing.
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
