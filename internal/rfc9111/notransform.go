package rfc9111

import "edgeproxy/internal/field"

// NoTransform reports whether a request or response with this header asks that its content stays as it is (RFC 9111 sections
// 5.2.1.6 and 5.2.2.6). A response may say so to this kind of cache alone (RFC 9213).
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
