package rfc9111

import (
	"slices"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

// Judgement is the verdict on one response.
type Judgement struct {
	// Why is the first reason against storing the response, None if it may be
	// stored. The other fields are set only if it is None.
	Why reason.Reason
	// Policy and Age, which is its InitialAge, are stored with the response.
	Policy Policy
	Age    time.Duration
	// Strip are the canonical names of fields that must not be stored with the
	// response. The client that asked still gets them. Nil if there are none. They
	// may repeat, and share the strings of the header.
	Strip []string
}

// Judge decides whether a shared cache may and should store the response (RFC 9111
// section 3), and how it may then be used. It does not check that the body is
// whole, as it must be.
//
// Any final status is storable if the origin, an option or the definition of the
// status allows it. Exceptions are statuses whose definition forbids it, and those
// that answer request fields which no key contains. A valid CDN-Cache-Control
// replaces Cache-Control and Expires (RFC 9213). So may Surrogate-Control, if
// Options.SurrogateControl is set. A response that is stale when it arrives, or
// that must be validated before use, is storable if it has a validator or the
// origin allows its use while it is validated.
//
// After a 304, call Judge with the header that Update returned, the times of the
// 304 and the stored status. No-store in it means that the stored response must be
// removed.
func Judge(req RequestFacts, resp ResponseFacts, o Options) Judgement {
	d := directivesOf(resp.Header, o.SurrogateControl)
	if why := refusesRequest(&d, &req, &resp); why != reason.None {
		return Judgement{Why: why}
	}
	if why := refusesMessage(&d, &req, &resp, &o); why != reason.None {
		return Judgement{Why: why}
	}
	strip, why := fieldsToStrip(&d, resp.Header, o.SetCookie)
	if why != reason.None {
		return Judgement{Why: why}
	}
	l := lifetimeFor(&d, &req, &resp, &o)
	p := policyOf(&d, l, hasValidator(resp.Header, resp.ResponseTime), &o)
	age := InitialAge(resp.Header, resp.RequestTime, resp.ResponseTime)
	if bound, bounded := o.errorBound(resp.Status); bounded {
		if bound == 0 {
			return Judgement{Why: reason.Status}
		}
		p = p.boundedTo(age, bound, provocable(resp.Status))
	}
	if why := refusesUse(&d, p, l, &req, &resp, age); why != reason.None {
		if req.Cookie && usableWithoutCookie(&d, req, &resp, &o, age) {
			why = reason.RequestCookie
		}
		return Judgement{Why: why}
	}
	return Judgement{Policy: p, Age: age, Strip: strip}
}

// usableWithoutCookie reports whether the response would be worth storing if the request had no cookie: then a lifetime from an option
// would apply, or it could be validated.
func usableWithoutCookie(d *ResponseDirectives, req RequestFacts, resp *ResponseFacts, o *Options, age time.Duration) bool {
	req.Cookie = false
	l := lifetimeFor(d, &req, resp, o)
	p := policyOf(d, l, hasValidator(resp.Header, resp.ResponseTime), o)
	if bound, bounded := o.errorBound(resp.Status); bounded {
		p = p.boundedTo(age, bound, provocable(resp.Status))
	}
	return refusesUse(d, p, l, &req, resp, age) == reason.None
}

// refusesRequest returns why the request forbids storing its response; None if it does not.
// The response must be one that a later GET may get.
func refusesRequest(d *ResponseDirectives, req *RequestFacts, resp *ResponseFacts) reason.Reason {
	switch {
	case req.Method == "GET":
	case req.Method == "POST" && answersGet(d, req, resp):
	default:
		return reason.Method
	}
	if req.NoStore {
		return reason.RequestNoStore
	}
	return reason.None
}

// answersGet reports whether the response to a POST may answer later GETs: it is a
// 200 with an explicit lifetime, and its Content-Location is the URI of the request
// (RFC 9110 sections 8.7 and 9.3.3).
func answersGet(d *ResponseDirectives, req *RequestFacts, resp *ResponseFacts) bool {
	if _, explicit := explicitLifetime(d, resp); !explicit || resp.Status != 200 {
		return false
	}
	location, ok := single(resp.Header, "Content-Location")
	if !ok {
		return false
	}
	uri, ok := req.URI.resolve(location)
	return ok && uri == req.URI
}

// refusesMessage returns why the response itself forbids storing it; None if it does not.
func refusesMessage(d *ResponseDirectives, req *RequestFacts, resp *ResponseFacts, o *Options) reason.Reason {
	if why := refusesStatus(resp.Status); why != reason.None && !isPart(req, resp, o) {
		return why
	}
	if why := forbidden(d, resp.Status); why != reason.None {
		return why
	}
	if req.Authorization && !d.authorized() {
		return reason.Authorization
	}
	if _, star := VaryNames(resp.Header); star {
		return reason.VaryStar
	}
	return reason.None
}

// isPart reports whether the response is a 206 that may be stored as a part.
func isPart(req *RequestFacts, resp *ResponseFacts, o *Options) bool {
	if resp.Status != 206 || !o.Partial || !req.Range {
		return false
	}
	_, ok := PartOf(resp.Header)
	return ok
}

// forbidden returns which directive forbids storing; None if none does.
// Must-understand cancels no-store for a status that we understand, and forbids
// storing any other (RFC 9111 section 5.2.2.3).
func forbidden(d *ResponseDirectives, status int) reason.Reason {
	known := d.MustUnderstand && understood(status)
	switch {
	case d.NoStore && !known:
		return reason.NoStore
	case d.MustUnderstand && !known:
		return reason.Status
	case d.Private:
		return reason.Private
	}
	return reason.None
}

// fieldsToStrip returns the fields that a shared cache may not store (RFC 9111
// sections 5.2.2.4 and 5.2.2.7), or that the SetCookie rule strips. If the rule
// refuses the whole response, it returns the reason.
func fieldsToStrip(d *ResponseDirectives, h field.List, rule SetCookie) ([]string, reason.Reason) {
	strip := slices.Concat(d.PrivateFields, d.NoCacheFields)
	if !h.Has("Set-Cookie") {
		return strip, reason.None
	}
	switch rule {
	case SetCookieStrip:
		return append(strip, "Set-Cookie"), reason.None
	case SetCookieStore:
		return strip, reason.None
	case SetCookieShared:
		if d.targeted || d.shared() || slices.Contains(strip, "Set-Cookie") {
			return strip, reason.None
		}
	case SetCookieRefuse:
	}
	return nil, reason.SetCookie
}

// policyOf makes the Policy from the directives, the lifetime and the options.
func policyOf(d *ResponseDirectives, l lifetime, validator bool, o *Options) Policy {
	p := Policy{
		Lifetime: l.span, Explicit: l.explicit, Heuristic: l.heuristic,
		Validate:       d.NoCache,
		MustRevalidate: d.MustRevalidate || d.ProxyRevalidate || d.SMaxAge.Present(),
		Immutable:      d.Immutable,
	}
	if !p.Validate && !p.MustRevalidate {
		p.WhileRevalidate = spanOr(d.StaleWhileRevalidate, o.Stale.WhileRevalidate)
		p.IfError = spanOr(d.StaleIfError, o.Stale.IfError)
		p.OriginFailure = spanOr(d.StaleIfError, o.Stale.OriginFailure)
	}
	p.Keep = max(p.WhileRevalidate, p.IfError, p.OriginFailure)
	if validator {
		p.Keep = max(p.Keep, clamp(o.Stale.Keep))
	}
	return p
}

// spanOr returns the origin's value, or the operator's if the origin gives none.
func spanOr(d Delta, operator time.Duration) time.Duration {
	if d.Present() {
		return d.Duration()
	}
	return clamp(operator)
}

// refusesUse returns why the response is not worth storing; None if it is. Either
// nothing allows storing it (RFC 9111 section 3), or it could never be used at this
// age.
func refusesUse(d *ResponseDirectives, p Policy, l lifetime, req *RequestFacts, resp *ResponseFacts, age time.Duration) reason.Reason {
	if !l.allowed && !d.Public && !cacheableByDefault(resp.Status) {
		return reason.Status
	}
	asIs := !p.Validate && (Fresh(p.Lifetime, age) || p.originAllowsStale(d, age))
	if asIs || p.validatable(d, l, req, resp, age) {
		return reason.None
	}
	if p.Validate {
		return reason.NoCache
	}
	return reason.NoFreshness
}

// originAllowsStale reports whether the origin itself allows the stale use of a response
// of this age. If only the operator allows it, that is no reason to store the
// response.
func (p *Policy) originAllowsStale(d *ResponseDirectives, age time.Duration) bool {
	late := age - p.Lifetime
	return d.StaleWhileRevalidate.Valid() && within(late, p.WhileRevalidate) ||
		d.StaleIfError.Valid() && within(late, p.IfError)
}

// validatable reports whether the response is worth storing to be validated later.
// One that may be personal is not, unless the origin said that it may be cached.
func (p *Policy) validatable(d *ResponseDirectives, l lifetime, req *RequestFacts, resp *ResponseFacts, age time.Duration) bool {
	said := l.explicit || d.NoCache || d.Public
	return (said || !req.personal(resp.Header)) && p.Useful(age) && hasValidator(resp.Header, resp.ResponseTime)
}
