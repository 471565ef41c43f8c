package rfc9111

import (
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

// keepAll are options with which every response with a validator is stored, however
// short its lifetime.
var keepAll = Options{DefaultTTL: 7 * time.Second, Stale: Stale{Keep: maxSpan}}

// RFC 9111 sections 4.2.1 and 5.3.
func TestLifetime(t *testing.T) {
	f := func(want time.Duration, explicit bool, lines ...string) {
		t.Helper()
		p := judged(t, get, keepAll, append(lines, `ETag: "a"`)...).Policy
		if p.Lifetime != want || p.Explicit != explicit {
			t.Errorf("%q: got %v %v, want %v %v", lines, p.Lifetime, p.Explicit, want, explicit)
		}
	}
	date, expires := "Date: "+at(0), "Expires: "+at(30*time.Second)

	// The order of precedence. An invalid value does not fall back to the next one.
	f(10*time.Second, true, "Cache-Control: max-age=20, s-maxage=10", expires, date)
	f(20*time.Second, true, "Cache-Control: max-age=20", expires, date)
	f(30*time.Second, true, expires, date)
	f(7*time.Second, false, date)
	f(0, true, "Cache-Control: max-age=20, s-maxage=ten", expires, date)
	f(0, true, "Cache-Control: max-age=-1", expires, date)
	f(20*time.Second, true, "Cache-Control: max-age=20", "Expires: 0", date)
	f(0, true, "Cache-Control: max-age=0", expires, date)
	f(maxSpan, true, "Cache-Control: max-age=99999999999")

	// Expires counts from Date, or from receipt where Date cannot be read.
	f(90*time.Second, true, expires, "Date: "+at(-time.Minute))
	f(0, true, expires, "Date: "+at(30*time.Second))
	f(0, true, expires, "Date: "+at(time.Hour))
	f(30*time.Second, true, expires)
	f(30*time.Second, true, expires, "Date: yesterday")
	f(30*time.Second, true, expires, date, "Date: "+at(-time.Hour))
	f(30*time.Second, true, expires, date, date)

	// Exactly one Expires, readable; else it has expired.
	f(30*time.Second, true, expires, expires, date)
	f(0, true, expires, "Expires: "+at(31*time.Second), date)
	f(0, true, expires, "Expires: 0", date)
	f(0, true, "Expires: 0", date)
	f(0, true, "Expires: -1", date)
	f(0, true, "Expires:", date)
	f(0, true, "Expires: "+at(-time.Hour), date)
	f(0, true, "Expires: Thu, 18 Aug 2050 02:01:18 UTC", date)
	f(maxSpan, true, "Expires: Sun, 21 Nov 9999 04:46:39 GMT", date)
	f(maxSpan, true, "Expires: Sun, 21 Nov 9999 04:46:39 GMT", "Date: Mon, 01 Jan 0001 00:00:00 GMT")
}

func TestLifetimeByDefaultTTL(t *testing.T) {
	f := func(want time.Duration, why reason.Reason, req RequestFacts, ttl time.Duration, lines ...string) {
		t.Helper()
		o := Options{DefaultTTL: ttl, SetCookie: SetCookieStore}
		j := Judge(req, response(t, 200, lines...), o)
		if j.Why != why || j.Policy.Lifetime != want {
			t.Errorf("%+v %q, default %v: got %v %q, want %v %q", req, lines, ttl, j.Policy.Lifetime, j.Why, want, why)
		}
	}
	cookie, authorization := RequestFacts{Method: "GET", Cookie: true}, RequestFacts{Method: "GET", Authorization: true}
	f(minute, reason.None, get, minute)
	f(minute, reason.None, get, minute, "Cache-Control: public")
	f(maxSpan, reason.None, get, 1<<62)
	f(0, reason.NoFreshness, get, 0)
	f(0, reason.NoFreshness, get, -minute)
	f(0, reason.NoFreshness, get, minute, "Age: 60")

	// An explicit lifetime has precedence, even if it is zero.
	f(2*minute, reason.None, get, minute, "Cache-Control: max-age=120")
	f(0, reason.NoFreshness, get, minute, "Cache-Control: max-age=0")
	f(0, reason.NoFreshness, get, minute, "Expires: 0")
	f(0, reason.NoFreshness, get, minute, "Cache-Control: max-age:60, max-age")

	// It does not apply to a response that may be personal.
	f(0, reason.RequestCookie, cookie, minute)
	f(0, reason.NoFreshness, cookie, 0)
	f(0, reason.NoFreshness, cookie, minute, "Set-Cookie: a=b")
	f(0, reason.NoFreshness, cookie, minute, "Cache-Control: max-age=0")
	f(minute, reason.None, cookie, 0, "Cache-Control: max-age=60")
	f(0, reason.Authorization, authorization, minute)
	f(0, reason.NoFreshness, authorization, minute, "Cache-Control: public")
	f(0, reason.NoFreshness, get, minute, "Set-Cookie: a=b")
}

// RFC 9111 section 4.2.2, RFC 9110 section 15.1.
func TestHeuristicLifetime(t *testing.T) {
	f := func(want time.Duration, h Heuristic, lines ...string) {
		t.Helper()
		resp := response(t, 200, lines...)
		if got := h.lifetime(resp.Header, received); got != want {
			t.Errorf("%+v %q: got %v, want %v", h, lines, got, want)
		}
	}
	tenth := Heuristic{Fraction: 0.1, MaxTTL: 24 * time.Hour}
	f(6*minute, tenth, "Last-Modified: "+at(-time.Hour))
	f(12*minute, tenth, "Last-Modified: "+at(-time.Hour), "Date: "+at(time.Hour))
	f(24*time.Hour, tenth, "Last-Modified: "+at(-1000*time.Hour))
	f(0, tenth)
	f(0, tenth, "Last-Modified: yesterday")
	f(0, tenth, "Last-Modified: "+at(time.Hour))
	f(0, tenth, "Last-Modified: "+at(-time.Hour), "Last-Modified: "+at(0))
	f(0, Heuristic{Fraction: 0.1}, "Last-Modified: "+at(-time.Hour))
	f(0, Heuristic{MaxTTL: time.Hour}, "Last-Modified: "+at(-time.Hour))
	f(0, Heuristic{Fraction: -1, MaxTTL: time.Hour}, "Last-Modified: "+at(-time.Hour))
	f(time.Hour, Heuristic{Fraction: 1e300, MaxTTL: 1 << 62}, "Last-Modified: "+at(-time.Hour))
	f(maxSpan, Heuristic{Fraction: 1, MaxTTL: 1 << 62}, "Last-Modified: Mon, 01 Jan 0001 00:00:00 GMT")

	allowed := []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}
	for status := 200; status < 600; status++ {
		got := Judge(get, response(t, status, "Last-Modified: "+at(-time.Hour)), edge)
		if stored := got.Why == reason.None; stored != slices.Contains(allowed, status) {
			t.Errorf("%d with Last-Modified: got %q", status, got.Why)
		} else if stored && got.Policy.Lifetime != 6*minute {
			t.Errorf("%d with Last-Modified: got %v, want 6m", status, got.Policy.Lifetime)
		}
	}
}

// RFC 9111 section 4.2: response_is_fresh = (freshness_lifetime > current_age).
func TestFreshEndsAtTheLifetime(t *testing.T) {
	if !Fresh(time.Second, time.Second-1) {
		t.Error("just before the end: got stale, want fresh")
	}
	if Fresh(time.Second, time.Second) || Fresh(0, 0) {
		t.Error("at the end: got fresh, want stale")
	}
}
