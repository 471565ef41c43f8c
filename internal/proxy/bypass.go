package proxy

import "strings"

// Bypass names what makes a request pass by the cache: neither answered from it,
// nor stored, nor a sighting.
type Bypass struct {
	// Headers are names of fields in canonical form that do so by being there.
	Headers []string
	// Cookies are names of cookies, case-sensitive, that do; a * at the end stands
	// for any ending.
	Cookies []string
}

// holds reports whether x has one of them.
func (b *Bypass) holds(x *exchange) bool {
	h := &x.ctx.Request.Header
	for _, name := range b.Headers {
		if len(h.PeekAll(name)) > 0 {
			return true
		}
	}
	if len(b.Cookies) == 0 || !x.asks.cookie {
		return false
	}
	for name := range h.Cookies() {
		if b.names(name) {
			return true
		}
	}
	return false
}

// names reports whether the cookie is among those named.
func (b *Bypass) names(cookie []byte) bool {
	for _, name := range b.Cookies {
		if start, open := strings.CutSuffix(name, "*"); open && strings.HasPrefix(string(cookie), start) || string(cookie) == name {
			return true
		}
	}
	return false
}
