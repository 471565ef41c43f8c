package rfc9111

import (
	"time"

	"edgeproxy/internal/field"
)

// Lifetime returns for how long after it was generated the response is fresh,
// from 0 to 2^31 seconds, and whether the origin said so (RFC 9111 section
// 4.2.1). In this order: s-maxage, max-age, Expires minus Date; the first that is
// present decides, and unreadable ones mean 0. Without any of them it is
// o.DefaultTTL where that may be used, else 0.
func Lifetime(req RequestFacts, resp ResponseFacts, o Options) (lifetime time.Duration, explicit bool) {
	d := ParseResponse(resp.Header)
	return lifetimeOf(&d, req, resp, o)
}

func lifetimeOf(d *ResponseDirectives, req RequestFacts, resp ResponseFacts, o Options) (time.Duration, bool) {
	if d.SMaxAge.Present() {
		return d.SMaxAge.Duration(), true
	}
	if d.MaxAge.Present() {
		return d.MaxAge.Duration(), true
	}
	if resp.Header.Has("Expires") {
		return untilExpiry(resp.Header, resp.ResponseTime), true
	}
	personal := req.Authorization || req.Cookie || resp.Header.Has("Set-Cookie")
	if personal || !takesDefaultTTL(resp.Status) {
		return 0, false
	}
	return clamp(o.DefaultTTL), false
}

// untilExpiry returns Expires minus Date. An Expires that is not one date, "0"
// above all, lies in the past (RFC 9111 section 5.3).
func untilExpiry(h field.List, responseTime time.Time) time.Duration {
	expires, ok := dateField(h, "Expires", responseTime)
	if !ok {
		return 0
	}
	return clamp(expires.Sub(originDate(h, responseTime)))
}

// originDate returns the origin's Date, or the time of receipt where there is no
// readable one (RFC 9110 section 6.6.1).
func originDate(h field.List, responseTime time.Time) time.Time {
	if t, ok := dateField(h, "Date", responseTime); ok {
		return t
	}
	return responseTime
}

// dateField returns the date in a field; ok is false unless it has exactly one.
func dateField(h field.List, name string, responseTime time.Time) (t time.Time, ok bool) {
	v, ok := single(h, name)
	if !ok {
		return time.Time{}, false
	}
	return ParseDate(v, responseTime)
}

// Fresh reports whether a response of this lifetime may still be used without
// validation at this age (RFC 9111 section 4.2): at its very end it is stale.
func Fresh(lifetime, age time.Duration) bool { return lifetime > age }
