package rfc9111

import "time"

// This file bounds how long an error is kept that a client may have provoked; see
// Options.BoundErrors.

// errorBound returns the longest that a response of this status may be fresh here; bounded
// is false where nothing bounds it.
func (o *Options) errorBound(status int) (bound time.Duration, bounded bool) {
	if !o.BoundErrors || !provocable(status) {
		return 0, false
	}
	if ttl, ok := o.TTLByStatus[status]; ok {
		return clamp(ttl), true
	}
	return clamp(o.ErrorMaxTTL), true
}

// provocable reports whether a request may get this status for a reason of its own, where
// others get a response of the resource: every error but those that say that there is none.
func provocable(status int) bool {
	switch status {
	case 404, 410, 451:
		return false
	}
	return status >= 400 && status <= 599
}

// boundedTo returns the policy with a lifetime of span at most, and no use beyond it.
func (p Policy) boundedTo(span time.Duration) Policy {
	return Policy{
		Lifetime: min(p.Lifetime, span), Explicit: p.Explicit, Heuristic: p.Heuristic,
		Validate: p.Validate, MustRevalidate: true, Immutable: p.Immutable,
	}
}
