package rfc9111

import (
	"time"

	"edgeproxy/internal/field"
)

// RequestFacts is what the rules need to know of a request.
type RequestFacts struct {
	Method  string // as received; methods are case-sensitive (RFC 9110 section 9.1)
	NoStore bool   // RequestDirectives.NoStore

	// Authorization and Cookie say that the client sent the field, also where it
	// is not forwarded.
	Authorization, Cookie bool
}

// ResponseFacts is what the rules need to know of a response.
type ResponseFacts struct {
	Status int
	// Header is the head as the origin sent it, hop-by-hop fields included, names
	// in canonical form. It is only read.
	Header field.List

	// RequestTime is when the request that brought the response was begun,
	// ResponseTime when its head was complete (RFC 9111 section 4.2.3).
	RequestTime, ResponseTime time.Time
}

// Options are the operator's choices. The zero value adds nothing to RFC 9111.
type Options struct {
	// DefaultTTL is the lifetime of a 200, 203, 301 or 308 that says nothing of
	// its freshness, if neither the request has Authorization or Cookie nor the
	// response Set-Cookie. Zero and less: none.
	DefaultTTL time.Duration
}
