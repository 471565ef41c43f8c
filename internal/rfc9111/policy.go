package rfc9111

import "time"

// Policy is how a stored response may be used: plain, comparable data, found by
// Judge once and kept with the response. All spans are from 0 to 2^31 seconds.
type Policy struct {
	// Lifetime is for how long after it was generated the response is fresh (RFC
	// 9111 section 4.2.1).
	Lifetime time.Duration
	// Explicit says that the origin gave Lifetime, Heuristic that it was found
	// from Last-Modified. With neither it is the operator's, or zero.
	Explicit, Heuristic bool

	// Validate says that the response may never be used without validation (no-cache,
	// RFC 9111 section 5.2.2.4).
	Validate bool
	// MustRevalidate says that it may never be used stale without validation
	// (must-revalidate, proxy-revalidate, s-maxage: sections 5.2.2.2, 5.2.2.8 and
	// 5.2.2.10).
	MustRevalidate bool
	// Immutable says that it does not change while it is fresh (RFC 8246).
	Immutable bool

	// WhileRevalidate, IfError and OriginFailure are for how long after Lifetime it
	// may be used stale: while it is validated (RFC 5861 section 3), in place of a
	// server error (section 4), and when no answer comes at all (RFC 9111 section
	// 4.2.4). They are zero where stale use is forbidden.
	WhileRevalidate, IfError, OriginFailure time.Duration

	// Keep is for how long after Lifetime the response is of any use: to be served
	// stale or to be validated.
	Keep time.Duration
}

// Use is what a stored response is good for in answer to a request.
type Use uint8

const (
	// UseAfterValidation: the origin is asked first.
	UseAfterValidation Use = iota
	// UseNow: it is the answer.
	UseNow
	// UseNowAndRefresh: it is the answer, stale, and has to be validated meanwhile
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
// directives (RFC 9111 section 4). Honor says whether the client may ask for
// more, or less, than the origin did: no-cache, max-age, min-fresh and max-stale
// in requests are advice that a cache may leave aside (section 5.2.1). Max-age
// alone, as browsers send it on reload, does not cause validation of what is
// immutable (RFC 8246).
//
// A response that is not stored, but shared by requests that wait for it, is
// shared with those for which Use says UseNow.
//
// Use does not allocate.
func (p Policy) Use(age time.Duration, req RequestDirectives, honor bool) Use {
	if p.Validate || honor && !p.suits(age, &req) {
		return UseAfterValidation
	}
	if Fresh(p.Lifetime, age) {
		return UseNow
	}
	late := age - p.Lifetime
	switch {
	case p.MustRevalidate || honor && !req.bears(late):
		return UseAfterValidation
	case within(late, p.WhileRevalidate):
		return UseNowAndRefresh
	case honor && req.MaxStale.Valid():
		return UseNow
	}
	return UseAfterValidation
}

// suits reports whether req takes a response of this age without validation,
// staleness aside.
func (p *Policy) suits(age time.Duration, req *RequestDirectives) bool {
	if req.NoCache {
		return false
	}
	if req.MinFresh.Valid() && p.Lifetime-age < req.MinFresh.Duration() {
		return false
	}
	old := req.MaxAge.Present() && age > req.MaxAge.Duration()
	return !old || p.Immutable && Fresh(p.Lifetime, age)
}

// bears reports whether the client takes a response that is so late. One that
// says how old a response may be takes no stale one, unless it says how stale it
// may be (RFC 9111 sections 5.2.1.1 and 5.2.1.2).
func (d *RequestDirectives) bears(late time.Duration) bool {
	if d.MaxStale.Present() {
		return d.MaxStale.Valid() && late <= d.MaxStale.Duration()
	}
	return !d.MaxAge.Present()
}

// within reports whether a response that is so late still is in its window. A
// window of no length is none.
func within(late, window time.Duration) bool { return window > 0 && late <= window }

// Failure is how the origin failed to validate a stored response.
type Failure uint8

const (
	// OriginFailure: no answer, or none that is complete.
	OriginFailure Failure = iota
	// ServerError: a 500, 502, 503 or 504 (RFC 5861 section 4).
	ServerError
)

// FailureOf returns what an origin's answer of this status means for a stored
// response: ok is false if it is no failure.
func FailureOf(status int) (kind Failure, ok bool) {
	switch status {
	case 500, 502, 503, 504:
		return ServerError, true
	}
	return 0, false
}

// MayServeStale reports whether a response of this age, which could not be
// validated because of the failure, may be used all the same (RFC 9111 section
// 4.2.4, RFC 5861 section 4). If not, the failure is the answer. Honor counts as
// in Use. MayServeStale does not allocate.
func (p Policy) MayServeStale(age time.Duration, kind Failure, req RequestDirectives, honor bool) bool {
	if p.Validate || honor && !p.suits(age, &req) {
		return false
	}
	if Fresh(p.Lifetime, age) {
		return true
	}
	late := age - p.Lifetime
	if p.MustRevalidate || honor && !req.bears(late) {
		return false
	}
	window := p.IfError
	if kind == OriginFailure {
		window = p.OriginFailure
	}
	if honor && req.StaleIfError.Valid() {
		window = max(window, req.StaleIfError.Duration())
	}
	return within(late, window)
}

// Useful reports whether a response of this age is of any use still. One that is
// not may be treated as not stored.
func (p Policy) Useful(age time.Duration) bool {
	return Fresh(p.Lifetime, age) || within(age-p.Lifetime, p.Keep)
}
