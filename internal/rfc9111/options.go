package rfc9111

import "time"

// Options are the operator's choices. The zero value adds nothing to RFC 9111,
// and keeps nothing that is not fresh. All spans below zero count as zero.
//
// The lifetimes among them (DefaultTTL, Heuristic, TTLByStatus, ForcedTTL) never
// apply where the request has Authorization or Cookie or the response Set-Cookie:
// without the origin's word nobody can tell for whom such a response was made.
type Options struct {
	// DefaultTTL is the lifetime of a 200, 203, 301 or 308 that says nothing of
	// its freshness. Zero: none.
	DefaultTTL time.Duration
	// Heuristic finds a lifetime from Last-Modified; it goes before DefaultTTL.
	Heuristic Heuristic
	// TTLByStatus is the lifetime of responses of a status that say nothing of
	// their freshness. It goes before Heuristic and DefaultTTL, also with the value
	// zero, which gives none. The map is only read.
	TTLByStatus map[int]time.Duration
	// BoundErrors says that ErrorMaxTTL is the longest that a 4xx or 5xx is fresh here, and
	// with zero that none is stored. Clients can provoke such a response for a URL that
	// answers others well, and its own lifetime is not meant for that. Those of a status that
	// TTLByStatus names have its value as their bound; 404, 410 and 451, which tell of the
	// resource, have none. A response that has a bound is never used stale, nor validated.
	BoundErrors bool
	ErrorMaxTTL time.Duration
	// ForcedTTL replaces whatever lifetime a 200, 203, 301 or 308 has. It lifts no
	// other restriction: no-store, private, no-cache and must-revalidate stand.
	// Zero: off.
	ForcedTTL time.Duration

	// SurrogateControl says that Surrogate-Control counts (W3C note "Edge Architecture
	// Specification", 2001). If it can be read and has a max-age, N or N+M, it
	// stands in for Cache-Control and Expires; CDN-Cache-Control goes before it.
	// Otherwise it may still restrict, no-store for one. For which surrogates a
	// directive is meant is not looked at. The field has to be stored: a 304 need
	// not repeat it, and Judge would find another policy.
	SurrogateControl bool
	// SetCookie says what becomes of responses that set cookies.
	SetCookie SetCookie
	// Stale says how long what is no longer fresh is of use.
	Stale Stale
	// Partial says that the store can keep a 206 as the part that it is (RFC 9111
	// section 3.3). Otherwise a 206 is not storable.
	Partial bool
}

// Heuristic is heuristic freshness (RFC 9111 section 4.2.2). With either field
// zero it is off.
type Heuristic struct {
	// Fraction of the time since Last-Modified that a response stays fresh, at
	// most 1; the RFC proposes 0.1.
	Fraction float64
	// MaxTTL is the longest lifetime found in this way.
	MaxTTL time.Duration
}

// Stale is for how long after the end of its lifetime a response may be used
// where the origin does not say (RFC 9111 section 4.2.4). What forbids stale
// responses, must-revalidate for one, goes before all of it.
type Stale struct {
	// OriginFailure is for use when no answer comes from the origin.
	OriginFailure time.Duration
	// ServerError is for use in place of a 500, 502, 503 or 504.
	ServerError time.Duration
	// WhileRevalidate is for use while the response is validated.
	WhileRevalidate time.Duration
	// Keep is how long a response with a validator is kept to be validated.
	Keep time.Duration
}

// SetCookie is a rule for responses with Set-Cookie. RFC 9111 section 7.3 leaves
// it to the cache.
type SetCookie uint8

const (
	// SetCookieShared stores the response, cookie and all, if the origin says that
	// it is for everybody: by public, s-maxage, CDN-Cache-Control or a
	// Surrogate-Control that stands in.
	SetCookieShared SetCookie = iota
	// SetCookieRefuse does not store the response.
	SetCookieRefuse
	// SetCookieStrip stores the response without the field.
	SetCookieStrip
	// SetCookieStore stores the response as it is.
	SetCookieStore
)
