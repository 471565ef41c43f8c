package rfc9111

import "edgeproxy/internal/http/field"

// Limits of a structured field (RFC 9651), beyond which it counts as invalid. The
// parser makes a map for every member, so 64 KiB of "a," would cost megabytes. RFC
// 9875 asks for 32 groups of 32 characters.
const (
	maxStructuredBytes = 4 << 10
	maxStructuredParts = 256
)

// structuredLines returns the lines of a structured field. Ok is false if there are
// none, or they exceed the limits.
func structuredLines(h field.List, name string) (lines []string, ok bool) {
	size, parts := 0, 0
	for i := range h {
		if h[i].Name != name {
			continue
		}
		size += len(h[i].Value)
		parts++
		if size > maxStructuredBytes {
			return nil, false
		}
		for _, c := range []byte(h[i].Value) {
			if c == ',' || c == ';' || c == ' ' || c == '\t' {
				parts++
			}
		}
	}
	if parts == 0 || parts > maxStructuredParts {
		return nil, false
	}
	return h.Values(name), true
}
