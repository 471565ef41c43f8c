package rfc9111

import "edgeproxy/internal/http/field"

// NoTransform reports whether the header of a request or response has no-transform: its content must not be changed (RFC
// 9111 sections 5.2.1.6 and 5.2.2.6). The directive may be in CDN-Cache-Control too (RFC 9213).
func NoTransform(h field.List) bool {
	for i := range h {
		if name := h[i].Name; name != "Cache-Control" && name != "Cdn-Cache-Control" {
			continue
		}
		p := parser[string]{rest: h[i].Value}
		for p.next() {
			if equalFold(p.at.name, "no-transform") {
				return true
			}
		}
	}
	return false
}
