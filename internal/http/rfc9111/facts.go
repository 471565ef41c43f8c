package rfc9111

import (
	"time"

	"edgeproxy/internal/http/field"
)

// URI is the target URI of a request (RFC 9110 section 7.1), in the parts from
// which the cache key is made.
type URI struct {
	Scheme string // in lower case
	Host   string // in lower case, without a trailing dot and the scheme's own port
	Target string // path and query as in the request line
}

// RequestFacts is what the rules need to know about a request.
type RequestFacts struct {
	Method  string // method that was received; methods are case-sensitive (RFC 9110 section 9.1)
	NoStore bool   // RequestDirectives.NoStore

	// Authorization and Cookie say that the client sent the field, even if it is
	// not forwarded. Cookie is false if the key has every cookie of the field.
	Authorization, Cookie bool

	// Range says that Range was forwarded. Without it a 206 is not a valid answer,
	// and is not stored.
	Range bool

	// URI is needed only for POST, to tell whether its answer may serve a later
	// GET.
	URI URI
}

// personal reports whether the response may have been made for one client. Only the
// origin's own directives, no default, may make such a response reusable.
func (f *RequestFacts) personal(h field.List) bool {
	return f.Authorization || f.Cookie || h.Has("Set-Cookie")
}

// ResponseFacts is what the rules need to know about a response.
type ResponseFacts struct {
	Status int
	// Header is the header as the origin sent it, with hop-by-hop fields, names in
	// canonical form. After a 304 it is the result of Update. It is only read.
	Header field.List

	// RequestTime is when the request to the origin began, ResponseTime when the
	// head of its response was complete (RFC 9111 section 4.2.3).
	RequestTime, ResponseTime time.Time
}
