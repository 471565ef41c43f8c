package rfc9111

import "time"

// This file limits how long an error that a client may have provoked is fresh; see
// Options.BoundErrors.

// errorBound returns the longest that a response of this status may be fresh here; bounded
// is false if there is no such limit.
func (o *Options) errorBound(status int) (bound time.Duration, bounded bool) {
	if !o.BoundErrors || !provocable(status) {
		return 0, false
	}
	if ttl, ok := o.TTLByStatus[status]; ok {
		return clamp(ttl), true
	}
	if describesRequest(status) {
		return 0, true
	}
	return clamp(o.ErrorMaxTTL), true
}

// provocable reports whether one request may get this status for a URL that answers others
// well. That is true of every error but those that tell of the resource itself.
func provocable(status int) bool {
	switch status {
	case 404, 410, 451:
		return false
	}
	return status >= 400 && status <= 599
}

// describesRequest reports whether an error of this status tells of the request that got it, as its definition says (RFC 9110
// sections 15.5 and 15.6.2, RFC 6585): another request for the URL may well be answered. 404, 410 and 451 tell of the resource.
func describesRequest(status int) bool {
	switch status {
	case 400, 401, 403, 501, 505:
		return true
	}
	return status >= 405 && status <= 408 || status >= 411 && status <= 417 || status >= 421 && status <= 431
}

// boundedTo returns the policy with a lifetime of at most span. The response is neither
// kept nor used after that.
func (p Policy) boundedTo(span time.Duration) Policy {
	return Policy{
		Lifetime: min(p.Lifetime, span), Explicit: p.Explicit, Heuristic: p.Heuristic,
		Validate: p.Validate, MustRevalidate: true, Immutable: p.Immutable,
	}
}
