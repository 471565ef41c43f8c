package rfc9111

import (
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/method"
)

// Invalidates reports whether a final response of this status to a request of this
// method invalidates what is stored for its target URI (RFC 9111 section 4.4): a
// non-error response to an unsafe or unknown method.
func Invalidates(name string, status int) bool {
	return !method.Safe(name) && status >= 200 && status < 400
}

// InvalidationTarget returns the request target that the response to a request for u
// invalidates by one of its fields, besides u itself. Name is Location or
// Content-Location (RFC 9111 section 4.4). Ok is false if the field names no other
// target on the origin of u: one origin must not purge another's responses.
func InvalidationTarget(h field.List, name string, u URI) (target string, ok bool) {
	reference, ok := single(h, name)
	if !ok {
		return "", false
	}
	t, ok := u.resolve(reference)
	if !ok || t.Scheme != u.Scheme || t.Host != u.Host || t.Target == u.Target {
		return "", false
	}
	return t.Target, true
}
