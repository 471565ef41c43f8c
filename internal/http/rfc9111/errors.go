package rfc9111

import "time"

// This file limits how long an error that a client may have provoked is fresh; see
// Options.BoundErrors.

// errorBound returns the longest that a response of this status may be fresh here; bounded
// is false if there is no such limit.
func (o *Options) errorBound(status int) (bound time.Duration, bounded bool) {
	if !o.BoundErrors || status < 400 || status > 599 {
		return 0, false
	}
	if ttl, ok := o.TTLByStatus[status]; ok {
		return clamp(ttl), true
	}
	if !provocable(status) {
		return 0, false
	}
	if describesRequest(status) {
		return 0, true
	}
	return clamp(o.ErrorMaxTTL), true
}

// provocable reports whether one request may get this error for a URL that answers others
// well. That is true of every error but those that tell of the resource itself.
func provocable(status int) bool { return status != 404 && status != 410 && status != 451 }

// describesRequest reports whether an error of this status tells of the request that got it, as its definition says (RFC 9110
// sections 15.5 and 15.6.2, RFC 6585): another request for the URL may well be answered. 404, 410 and 451 tell of the resource.
func describesRequest(status int) bool {
	switch status {
	case 400, 401, 403, 501, 505:
		return true
	}
	return status >= 405 && status <= 408 || status >= 411 && status <= 417 || status >= 421 && status <= 431
}

// boundedTo returns the policy of an error that is fresh for at most bound after it has come with this age. One that a client may
// have provoked is neither kept nor used after that. One that tells of the resource may be, where the origin fails, and while it
// is validated for as long again.
func (p Policy) boundedTo(age, bound time.Duration, provocable bool) Policy {
	span := age + bound
	if !provocable {
		p.Lifetime, p.WhileRevalidate = min(p.Lifetime, span), min(p.WhileRevalidate, bound)
		return p
	}
	return Policy{
		Lifetime: min(p.Lifetime, span), Explicit: p.Explicit, Heuristic: p.Heuristic,
		Validate: p.Validate, MustRevalidate: true, Immutable: p.Immutable,
	}
}
