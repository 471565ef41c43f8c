package rfc9111

import (
	"time"

	"edgeproxy/internal/http/field"
)

// lifetime is a freshness lifetime and its source.
type lifetime struct {
	span                time.Duration
	explicit, heuristic bool
	// allowed says that the origin or an option for the status gave the lifetime,
	// so a response of any status may be stored.
	allowed bool
}

// lifetimeFor returns the lifetime of a response. It takes the first of these:
// Options.ForcedTTL, the origin's lifetime, Options.TTLByStatus, the heuristic
// lifetime, Options.DefaultTTL.
func lifetimeFor(d *ResponseDirectives, req *RequestFacts, resp *ResponseFacts, o *Options) lifetime {
	status := resp.Status
	if status == 206 {
		status = 200 // a part is fresh for as long as the whole
	}
	personal := req.personal(resp.Header)
	span, explicit := explicitLifetime(d, resp)
	switch {
	case o.ForcedTTL > 0 && !personal && takesDefaultTTL(status):
		return lifetime{span: clamp(o.ForcedTTL), allowed: true}
	case explicit:
		return lifetime{span: span, explicit: true, allowed: true}
	case personal:
		return lifetime{}
	}
	if ttl, ok := o.TTLByStatus[status]; ok {
		return lifetime{span: clamp(ttl), allowed: ttl > 0}
	}
	if d.Public || cacheableByDefault(status) {
		if span := o.Heuristic.lifetime(resp.Header, resp.ResponseTime); span > 0 {
			return lifetime{span: span, heuristic: true, allowed: true}
		}
	}
	if takesDefaultTTL(status) {
		return lifetime{span: clamp(o.DefaultTTL), allowed: true}
	}
	return lifetime{}
}

// explicitLifetime returns the lifetime that the origin gave, if any (RFC 9111
// section 4.2.1): s-maxage, max-age, or Expires minus Date. The first that is
// present counts; it is 0 if it is invalid. Expires is ignored if the directives
// come from a targeted field (RFC 9213 section 2.2).
func explicitLifetime(d *ResponseDirectives, resp *ResponseFacts) (span time.Duration, explicit bool) {
	switch {
	case d.SMaxAge.Present():
		return d.SMaxAge.Duration(), true
	case d.MaxAge.Present():
		return d.MaxAge.Duration(), true
	case !d.targeted && resp.Header.Has("Expires"):
		return untilExpiry(resp.Header, resp.ResponseTime), true
	}
	return 0, false
}

// lifetime is the fraction o.Fraction of the time between Last-Modified and Date,
// at most o.MaxTTL. It is 0 if the heuristic is off or Last-Modified is invalid.
func (o Heuristic) lifetime(h field.List, responseTime time.Time) time.Duration {
	modified, ok := dateField(h, "Last-Modified", responseTime)
	if !ok || !(o.Fraction > 0) {
		return 0
	}
	unchanged := clamp(originDate(h, responseTime).Sub(modified))
	span := time.Duration(float64(unchanged) * min(o.Fraction, 1))
	return min(span, clamp(o.MaxTTL))
}

// untilExpiry returns Expires minus Date. An Expires that is not exactly one date,
// such as "0", is a time in the past (RFC 9111 section 5.3).
func untilExpiry(h field.List, responseTime time.Time) time.Duration {
	expires, ok := dateField(h, "Expires", responseTime)
	if !ok {
		return 0
	}
	return clamp(expires.Sub(originDate(h, responseTime)))
}

// originDate returns the origin's Date, or the time of receipt if there is no valid
// one (RFC 9110 section 6.6.1).
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

// Fresh reports whether a response of this lifetime is fresh at this age (RFC 9111
// section 4.2). At an age equal to its lifetime it is stale.
func Fresh(lifetime, age time.Duration) bool { return lifetime > age }
