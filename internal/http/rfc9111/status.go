package rfc9111

import "edgeproxy/internal/http/reason"

// refusesStatus returns why no response of this status is stored, whatever its
// fields are; None if one may be.
func refusesStatus(status int) reason.Reason {
	switch status {
	case 206: // it is a part; see Options.Partial (RFC 9111 section 3.3)
		return reason.Partial
	case 304: // it renews a stored response and is none (RFC 9111 section 4.3.4)
		return reason.NotModified
	case 412, 416: // they answer the preconditions and Range of one request, which no key holds
		return reason.Status
	case 428, 429, 431, 511: // "MUST NOT be stored by a cache" (RFC 6585)
		return reason.Status
	}
	if status < 200 || status > 599 { // interim, or no status of HTTP (RFC 9110 section 15)
		return reason.Status
	}
	return reason.None
}

// understood reports whether this cache knows the status and follows what its
// definition requires of caches, as must-understand demands (RFC 9111 section 3).
// These are the final statuses of RFC 9110 section 15 and the 451 of RFC 7725.
// Those that refusesStatus refuses are refused before this is asked.
func understood(status int) bool {
	switch status {
	case 305, 307, 308, 421, 422, 426, 451:
		return true
	}
	return status >= 200 && status <= 206 || status >= 300 && status <= 303 ||
		status >= 400 && status <= 417 || status >= 500 && status <= 505
}

// takesDefaultTTL reports whether Options.DefaultTTL and ForcedTTL apply: only to a
// resource that exists, or has moved permanently. All of them are heuristically
// cacheable (RFC 9110 section 15.1).
func takesDefaultTTL(status int) bool {
	return status == 200 || status == 203 || status == 301 || status == 308
}

// cacheableByDefault reports whether the status is heuristically cacheable: a
// response may be stored without explicit freshness (RFC 9110 section 15.1).
func cacheableByDefault(status int) bool {
	switch status {
	case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501:
		return true
	}
	return false
}
