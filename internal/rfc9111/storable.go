package rfc9111

import (
	"time"

	"edgeproxy/internal/reason"
)

// Storable reports whether a shared cache may store the response, and is to: None
// if so, else the first reason against it (RFC 9111 section 3). It says nothing
// of the body, which must be whole.
//
// Any final status with a lifetime of its own is storable, but for those whose
// definition forbids it and those that answer fields which no key holds. Beyond
// what the RFC asks these are refused:
//
//   - no-cache and private, also when they name fields: using the rest would need
//     validation, or the removal of those fields, before every use;
//   - Set-Cookie, unless public or s-maxage says that the response is for all
//     (RFC 9111 section 7.3 leaves it to the cache);
//   - what is stale when it arrives, or at once: it could not be used.
func Storable(req RequestFacts, resp ResponseFacts, o Options) reason.Reason {
	if req.Method != "GET" {
		return reason.Method
	}
	if why := refusesStatus(resp.Status); why != reason.None {
		return why
	}
	if req.NoStore {
		return reason.RequestNoStore
	}
	d := ParseResponse(resp.Header)
	if why := refusesDirectives(&d, resp.Status); why != reason.None {
		return why
	}
	if why := refusesSharing(&d, req, resp); why != reason.None {
		return why
	}
	return refusesFreshness(&d, req, resp, o)
}

// refusesDirectives applies the directives that forbid storing, and those that
// forbid use without validation.
func refusesDirectives(d *ResponseDirectives, status int) reason.Reason {
	if why := forbidden(d, status); why != reason.None {
		return why
	}
	switch {
	case d.PrivateFields != nil:
		return reason.Private
	case d.NoCache || d.NoCacheFields != nil:
		return reason.NoCache
	}
	return reason.None
}

// refusesSharing refuses what was made for one client, or cannot be told to fit
// any other request.
func refusesSharing(d *ResponseDirectives, req RequestFacts, resp ResponseFacts) reason.Reason {
	if req.Authorization && !d.authorized() {
		return reason.Authorization
	}
	if resp.Header.Has("Set-Cookie") && !d.shared() {
		return reason.SetCookie
	}
	if _, star := VaryNames(resp.Header); star {
		return reason.VaryStar
	}
	return reason.None
}

// refusesFreshness refuses what could never be used without validation.
func refusesFreshness(d *ResponseDirectives, req RequestFacts, resp ResponseFacts, o Options) reason.Reason {
	lifetime, explicit := lifetimeOf(d, req, resp, o)
	if !explicit && !takesDefaultTTL(resp.Status) {
		return reason.Status
	}
	if !Fresh(lifetime, InitialAge(resp.Header, resp.RequestTime, resp.ResponseTime)) {
		return reason.NoFreshness
	}
	return reason.None
}

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
	if span, explicit := explicitLifetime(d, &resp); explicit {
		return span, true
	}
	if req.personal(resp.Header) || !takesDefaultTTL(resp.Status) {
		return 0, false
	}
	return clamp(o.DefaultTTL), false
}
