package rfc9111

import (
	"slices"
	"time"

	"edgeproxy/internal/field"
	"edgeproxy/internal/reason"
)

// Judgement is the verdict on one response.
type Judgement struct {
	// Why is the first reason against storing the response, None if it may be
	// stored. The fields below count only then.
	Why reason.Reason
	// Policy is kept with the response, and so is Age, its InitialAge.
	Policy Policy
	Age    time.Duration
	// Strip are the canonical names of fields that must not be kept with it, though
	// the client that asked gets them; nil if there are none. They may repeat, and
	// share the strings of the header.
	Strip []string
}

// Judge decides whether a shared cache may store the response, and is to (RFC
// 9111 section 3), and how it may be used then. It says nothing of the body,
// which must be whole.
//
// Any final status is storable if the origin, a rule or the definition of the
// status allows it, but for those whose definition forbids it and those that
// answer fields which no key holds. A valid CDN-Cache-Control stands in for
// Cache-Control and Expires (RFC 9213), and so may Surrogate-Control, if
// Options.SurrogateControl is set. What is stale when it arrives, or must
// not be used without validation, is storable if it has a validator or the
// origin lets it be used while it is validated.
//
// After a 304, judge the header that Update returned, with the times of the 304
// and the status that is stored: no-store in it means that the stored response
// has to go.
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
		p = p.boundedTo(age + bound)
	}
	if why := refusesUse(&d, p, l, &req, &resp, age); why != reason.None {
		return Judgement{Why: why}
	}
	return Judgement{Policy: p, Age: age, Strip: strip}
}

// refusesRequest refuses what answers a request that no GET may be answered for.
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

// answersGet reports whether the answer to a POST may serve later GETs: it has a
// lifetime of its own, and Content-Location says that it is the representation
// of the URI it was sent to (RFC 9110 sections 8.7 and 9.3.3).
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

// refusesMessage refuses what the response itself forbids to store.
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

// isPart reports whether the response is a part that may be kept as one.
func isPart(req *RequestFacts, resp *ResponseFacts, o *Options) bool {
	if resp.Status != 206 || !o.Partial || !req.Range {
		return false
	}
	_, ok := PartOf(resp.Header)
	return ok
}

// forbidden applies the directives that forbid storing. Must-understand lifts
// no-store for a status we understand, and forbids any other (RFC 9111 section
// 5.2.2.3).
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

// fieldsToStrip returns the fields that a shared cache may not keep (RFC 9111
// sections 5.2.2.4 and 5.2.2.7) or is not to, or why the response must go with
// them.
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

// policyOf puts together how the response may be used.
func policyOf(d *ResponseDirectives, l lifetime, validator bool, o *Options) Policy {
	p := Policy{
		Lifetime: l.span, Explicit: l.explicit, Heuristic: l.heuristic,
		Validate:       d.NoCache,
		MustRevalidate: d.MustRevalidate || d.ProxyRevalidate || d.SMaxAge.Present(),
		Immutable:      d.Immutable,
	}
	if !p.Validate && !p.MustRevalidate {
		p.WhileRevalidate = spanOr(d.StaleWhileRevalidate, o.Stale.WhileRevalidate)
		p.IfError = spanOr(d.StaleIfError, o.Stale.ServerError)
		p.OriginFailure = spanOr(d.StaleIfError, o.Stale.OriginFailure)
	}
	p.Keep = max(p.WhileRevalidate, p.IfError, p.OriginFailure)
	if validator {
		p.Keep = max(p.Keep, clamp(o.Stale.Keep))
	}
	return p
}

// spanOr returns what the origin says, or the operator where it says nothing.
func spanOr(d Delta, operator time.Duration) time.Duration {
	if d.Present() {
		return d.Duration()
	}
	return clamp(operator)
}

// refusesUse refuses what may not be stored for want of a word that allows it
// (RFC 9111 section 3), and what could never be used at this age.
func refusesUse(d *ResponseDirectives, p Policy, l lifetime, req *RequestFacts, resp *ResponseFacts, age time.Duration) reason.Reason {
	if !l.allowed && !d.Public && !cacheableByDefault(resp.Status) {
		return reason.Status
	}
	asIs := !p.Validate && (Fresh(p.Lifetime, age) || p.originBears(d, age))
	if asIs || p.validatable(d, l, req, resp, age) {
		return reason.None
	}
	if p.Validate {
		return reason.NoCache
	}
	return reason.NoFreshness
}

// originBears reports whether the origin itself lets a response of this age be
// used stale. The operator's word alone is not worth a place in the cache.
func (p *Policy) originBears(d *ResponseDirectives, age time.Duration) bool {
	late := age - p.Lifetime
	return d.StaleWhileRevalidate.Valid() && within(late, p.WhileRevalidate) ||
		d.StaleIfError.Valid() && within(late, p.IfError)
}

// validatable reports whether the response is worth keeping to be validated. One
// that may be personal is not unless the origin said that it may be cached.
func (p *Policy) validatable(d *ResponseDirectives, l lifetime, req *RequestFacts, resp *ResponseFacts, age time.Duration) bool {
	said := l.explicit || d.NoCache || d.Public
	return (said || !req.personal(resp.Header)) && p.Useful(age) && hasValidator(resp.Header, resp.ResponseTime)
}
