package rfc9111

import (
	"testing"
	"time"
)

// RFC 9111 sections 4.2.1 and 5.3.
func TestLifetime(t *testing.T) {
	f := func(want time.Duration, explicit bool, lines ...string) {
		t.Helper()
		got, gotExplicit := Lifetime(get, response(t, 200, lines...), Options{DefaultTTL: 7 * time.Second})
		if got != want || gotExplicit != explicit {
			t.Errorf("%q: got %v %v, want %v %v", lines, got, gotExplicit, want, explicit)
		}
	}
	date, expires := "Date: "+at(0), "Expires: "+at(30*time.Second)

	// The order of precedence, and no falling back from what cannot be read.
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
	f := func(want time.Duration, req RequestFacts, status int, ttl time.Duration, lines ...string) {
		t.Helper()
		got, explicit := Lifetime(req, response(t, status, lines...), Options{DefaultTTL: ttl})
		if got != want || explicit {
			t.Errorf("%+v %d %q, default %v: got %v %v, want %v false", req, status, lines, ttl, got, explicit, want)
		}
	}
	f(time.Minute, get, 200, time.Minute)
	f(time.Minute, get, 203, time.Minute)
	f(time.Minute, get, 301, time.Minute)
	f(time.Minute, get, 308, time.Minute)
	f(0, get, 302, time.Minute)
	f(0, get, 404, time.Minute)
	f(0, get, 200, 0)
	f(0, get, 200, -time.Minute)
	f(maxSpan, get, 200, 1<<62)
	f(0, RequestFacts{Method: "GET", Cookie: true}, 200, time.Minute)
	f(0, RequestFacts{Method: "GET", Authorization: true}, 200, time.Minute)
	f(0, get, 200, time.Minute, "Set-Cookie: a=b")
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
