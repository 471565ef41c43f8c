package rfc9111

import "time"

// Options are the operator's choices. The zero value adds nothing to RFC 9111, and
// lets nothing be used or kept that is not fresh. A negative span counts as zero.
//
// The lifetimes among them (DefaultTTL, Heuristic, TTLByStatus, ForcedTTL) never
// apply where the request has Authorization or Cookie or the response Set-Cookie:
// unless the origin says so, nobody can tell for whom such a response was made.
type Options struct {
	// DefaultTTL is the lifetime of a 200, 203, 301 or 308 without an explicit one.
	// Zero: none.
	DefaultTTL time.Duration
	// Heuristic computes a lifetime from Last-Modified. It has precedence over DefaultTTL.
	Heuristic Heuristic
	// TTLByStatus is the lifetime, by status, of responses without an explicit one. With BoundErrors
	// it bounds the lifetime of errors that have one as well.
	// It has precedence over Heuristic and DefaultTTL, even if its value is zero,
	// which means no lifetime. The map is only read.
	TTLByStatus map[int]time.Duration
	// BoundErrors limits the freshness of a 4xx or 5xx in this cache to ErrorMaxTTL; if that
	// is zero, none is stored. A client can provoke such a response for a URL that answers
	// others well, and the origin's lifetime is not meant for that. Errors that tell of the
	// request by their definition are not stored at all: 400, 401, 403, 405 to 408, 411 to 417,
	// 421 to 431, 501, 505. If TTLByStatus has the status, its value is the limit instead, and zero stores none. 404,
	// 410 and 451 tell of the resource itself: they have no limit but that of TTLByStatus. Any other error is never used stale, and
	// never validated.
	BoundErrors bool
	ErrorMaxTTL time.Duration
	// ForcedTTL replaces any lifetime of a 200, 203, 301 or 308. It cancels no
	// other restriction: no-store, private, no-cache and must-revalidate still
	// apply. Zero: off.
	ForcedTTL time.Duration

	// SurrogateControl enables Surrogate-Control (W3C note "Edge Architecture
	// Specification", 2001). If it is valid and has a max-age, N or N+M, it replaces
	// Cache-Control and Expires; CDN-Cache-Control has precedence over it. Otherwise
	// it can still restrict, as by no-store. The surrogates for which a directive is
	// meant are ignored. The field must be stored: a 304 need not repeat it, and
	// without it Judge would return another policy.
	SurrogateControl bool
	// SetCookie is the rule for responses with Set-Cookie.
	SetCookie SetCookie
	// Stale says how long a stale response may be used or kept.
	Stale Stale
	// Partial says that the store can keep a 206 as a part (RFC 9111 section 3.3).
	// Otherwise a 206 is not storable.
	Partial bool
}

// Heuristic is heuristic freshness (RFC 9111 section 4.2.2). It is off if either
// field is zero.
type Heuristic struct {
	// Fraction of the time since Last-Modified for which a response is fresh, at
	// most 1; the RFC proposes 0.1.
	Fraction float64
	// MaxTTL is the longest heuristic lifetime.
	MaxTTL time.Duration
}

// Stale says for how long after the end of its lifetime a response may be used if
// the origin does not say (RFC 9111 section 4.2.4). A directive that forbids stale
// responses, such as must-revalidate, has precedence.
type Stale struct {
	// OriginFailure applies if no complete answer comes from the origin.
	OriginFailure time.Duration
	// IfError applies if the origin answers 500, 502, 503 or 504.
	IfError time.Duration
	// WhileRevalidate applies while the response is validated.
	WhileRevalidate time.Duration
	// Keep is how long a response with a validator is kept for validation.
	Keep time.Duration
}

// SetCookie is a rule for responses with Set-Cookie. RFC 9111 section 7.3 leaves
// it to the cache.
type SetCookie uint8

const (
	// SetCookieRefuse does not store the response.
	SetCookieRefuse SetCookie = iota
	// SetCookieShared stores the response with its cookie if the origin says that
	// it is for everybody: by public, s-maxage, CDN-Cache-Control, or a
	// Surrogate-Control that replaces Cache-Control.
	SetCookieShared
	// SetCookieStrip stores the response without the field.
	SetCookieStrip
	// SetCookieStore stores the response as it is.
	SetCookieStore
)

// String returns the word of s in the configuration.
func (s SetCookie) String() string { return [...]string{"refuse", "shared", "strip", "store"}[s] }
