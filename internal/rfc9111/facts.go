package rfc9111

import (
	"time"

	"edgeproxy/internal/field"
)

// URI is the target URI of a request (RFC 9110 section 7.1), in the parts that
// the cache's key is made of.
type URI struct {
	Scheme string // in lower case
	Host   string // in lower case, without a trailing dot and the scheme's own port
	Target string // path and query as in the request line
}

// RequestFacts is what the rules need to know of a request.
type RequestFacts struct {
	Method  string // as received; methods are case-sensitive (RFC 9110 section 9.1)
	NoStore bool   // RequestDirectives.NoStore

	// Authorization and Cookie say that the client sent the field, also where it
	// is not forwarded. A Cookie of which the key has every cookie does not count.
	Authorization, Cookie bool

	// Range says that Range was forwarded. Without it a 206 answers nothing that
	// was asked.
	Range bool

	// URI serves to tell whether the answer to a POST is one to GET; other methods
	// do not need it.
	URI URI
}

// personal reports whether the response may have been made for one client:
// nothing that the origin did not say itself may make such a one reusable.
func (f *RequestFacts) personal(h field.List) bool {
	return f.Authorization || f.Cookie || h.Has("Set-Cookie")
}

// ResponseFacts is what the rules need to know of a response.
type ResponseFacts struct {
	Status int
	// Header is the head as the origin sent it, hop-by-hop fields included, names
	// in canonical form; for a validated response what Update made of it. It is
	// only read.
	Header field.List

	// RequestTime is when the request that brought the response was begun,
	// ResponseTime when its head was complete (RFC 9111 section 4.2.3).
	RequestTime, ResponseTime time.Time
}
