package rfc9111

import "time"

// Policy says how a stored response may be used. It is plain, comparable data.
// Judge makes it once, and it is stored with the response. All spans are from 0 to
// 2^31 seconds.
type Policy struct {
	// Lifetime is the freshness lifetime of the response (RFC 9111 section 4.2.1).
	Lifetime time.Duration
	// Explicit says that the origin gave Lifetime, Heuristic that it was computed
	// from Last-Modified. If both are false, Lifetime is the operator's, or zero.
	Explicit, Heuristic bool

	// Validate says that every use of the response needs validation first (no-cache,
	// RFC 9111 section 5.2.2.4).
	Validate bool
	// MustRevalidate says that the response may not be used stale without
	// validation (must-revalidate, proxy-revalidate, s-maxage: sections 5.2.2.2,
	// 5.2.2.8 and 5.2.2.10).
	MustRevalidate bool
	// Immutable says that the response does not change while it is fresh (RFC 8246).
	Immutable bool
	// TagWeakened says that the entity tag of the response is the weak form of the strong one by which its origin knows it:
	// what the origin has sent was encoded on its way here. Judge leaves it false.
	TagWeakened bool

	// WhileRevalidate, IfError and OriginFailure are for how long after Lifetime
	// the response may be used stale: while it is validated (RFC 5861 section 3),
	// in place of a server error (section 4), and if no answer comes at all (RFC
	// 9111 section 4.2.4). After a failure it may be used within WhileRevalidate as well:
	// it is what others get meanwhile. They are zero if stale use is forbidden.
	WhileRevalidate, IfError, OriginFailure time.Duration

	// Keep is for how long after Lifetime the response is worth keeping, to be
	// served stale or to be validated.
	Keep time.Duration
}

// Use says how a stored response may be used for a request.
type Use uint8

const (
	// UseAfterValidation: the response may be used only after the origin has validated it.
	UseAfterValidation Use = iota
	// UseNow: the response is the answer.
	UseNow
	// UseNowAndRefresh: the stale response is the answer, and must be validated meanwhile
	// (RFC 5861 section 3).
	UseNowAndRefresh
)

// String returns the use in a few words, for logs and tests.
func (u Use) String() string {
	switch u {
	case UseAfterValidation:
		return "after validation"
	case UseNow:
		return "now"
	case UseNowAndRefresh:
		return "now, and refresh"
	}
	return "unknown"
}

// Use returns how a response of this age may be used for a request with these
// directives (RFC 9111 section 4). Honor says whether no-cache, max-age, min-fresh
// and max-stale in the request count: they are advice that a cache may ignore
// (section 5.2.1). Max-age alone, as browsers send it on reload, does not cause
// validation of an immutable response (RFC 8246).
//
// A response that is not stored may be shared with the requests that wait for it
// and for which Use returns UseNow.
//
// Use does not allocate.
func (p Policy) Use(age time.Duration, req RequestDirectives, honor bool) Use {
	if p.Validate || honor && !p.satisfies(age, &req) {
		return UseAfterValidation
	}
	if Fresh(p.Lifetime, age) {
		return UseNow
	}
	late := age - p.Lifetime
	switch {
	case p.MustRevalidate || honor && !req.acceptsStale(late):
		return UseAfterValidation
	case within(late, p.WhileRevalidate):
		return UseNowAndRefresh
	case honor && req.MaxStale.Valid():
		return UseNow
	}
	return UseAfterValidation
}

// satisfies reports whether req accepts a response of this age without validation,
// apart from the question whether it is stale.
func (p *Policy) satisfies(age time.Duration, req *RequestDirectives) bool {
	if req.NoCache {
		return false
	}
	if req.MinFresh.Valid() && p.Lifetime-age < req.MinFresh.Duration() {
		return false
	}
	old := req.MaxAge.Present() && age > req.MaxAge.Duration()
	return !old || p.Immutable && Fresh(p.Lifetime, age)
}

// acceptsStale reports whether the client accepts a response that has been stale for so
// long. A client that sends max-age accepts no stale one, unless it also sends
// max-stale (RFC 9111 sections 5.2.1.1 and 5.2.1.2).
func (d *RequestDirectives) acceptsStale(late time.Duration) bool {
	if d.MaxStale.Present() {
		return d.MaxStale.Valid() && late <= d.MaxStale.Duration()
	}
	return !d.MaxAge.Present()
}

// within reports whether a response that has been stale for late is still in the
// window. A window of zero is no window.
func within(late, window time.Duration) bool { return window > 0 && late <= window }

// Failure is how the origin failed to validate a stored response.
type Failure uint8

const (
	// OriginFailure: no answer, or an incomplete one.
	OriginFailure Failure = iota
	// ServerError: a 5xx, which a cache may take for no answer (RFC 9111 section 4.3.3). RFC 5861
	// section 4 names 500, 502, 503 and 504; proxies before the origin have others, such as 520.
	ServerError
)

// FailureOf returns the failure that an origin's answer of this status is. Ok is
// false if it is none.
func FailureOf(status int) (kind Failure, ok bool) {
	return ServerError, status >= 500 && status <= 599
}

// MayServeStale reports whether a response of this age, which could not be
// validated because of the failure, may still be used (RFC 9111 section 4.2.4, RFC
// 5861 section 4). If not, the failure is the answer. Honor is as in Use.
// MayServeStale does not allocate.
func (p Policy) MayServeStale(age time.Duration, kind Failure, req RequestDirectives, honor bool) bool {
	if p.Validate || honor && !p.satisfies(age, &req) {
		return false
	}
	if Fresh(p.Lifetime, age) {
		return true
	}
	late := age - p.Lifetime
	if p.MustRevalidate || honor && !req.acceptsStale(late) {
		return false
	}
	window := p.IfError
	if kind == OriginFailure {
		window = p.OriginFailure
	}
	window = max(window, p.WhileRevalidate)
	if honor && req.StaleIfError.Valid() {
		window = max(window, req.StaleIfError.Duration())
	}
	return within(late, window)
}

// Useful reports whether a response of this age is still worth keeping. If not, a
// cache may treat it as not stored.
func (p Policy) Useful(age time.Duration) bool {
	return Fresh(p.Lifetime, age) || within(age-p.Lifetime, p.Keep)
}
