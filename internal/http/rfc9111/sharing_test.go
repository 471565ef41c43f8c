package rfc9111

import (
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

// RFC 9111 section 3.5.
func TestJudgeAuthorization(t *testing.T) {
	f := func(want reason.Reason, lines ...string) {
		t.Helper()
		req := RequestFacts{Method: "GET", Authorization: true}
		if got := Judge(req, response(t, 200, lines...), edge).Why; got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f(reason.Authorization, "Cache-Control: max-age=60")
	f(reason.Authorization, "Cache-Control: max-age=60, proxy-revalidate")
	f(reason.Authorization, "Cache-Control: max-age=60, s-maxage=x")
	f(reason.Authorization, "Cache-Control: max-age=60, public=1")
	f(reason.Authorization, "Cache-Control: max-age=60, must-revalidate=1")
	f(reason.Authorization, `Cache-Control: max-age=60, x="y, public`)
	f(reason.Authorization, "CDN-Cache-Control: max-age=60")
	f(reason.Authorization, "CDN-Cache-Control: max-age=60", "Cache-Control: public")
	f(reason.None, "Cache-Control: max-age=60, public")
	f(reason.None, "Cache-Control: max-age=60, must-revalidate")
	f(reason.None, "Cache-Control: s-maxage=60")
	f(reason.None, "CDN-Cache-Control: max-age=60, public")
	f(reason.Private, "Cache-Control: s-maxage=60, private")
}

// RFC 9111 section 7.3.
func TestJudgeSetCookie(t *testing.T) {
	f := func(rule SetCookie, want reason.Reason, strip []string, lines ...string) {
		t.Helper()
		o := edge
		o.SetCookie, o.DefaultTTL = rule, time.Minute
		j := Judge(get, response(t, 200, append(lines, "Set-Cookie: a=b")...), o)
		if j.Why != want || !slices.Equal(j.Strip, strip) {
			t.Errorf("rule %d, %q: got %q without %q, want %q without %q", rule, lines, j.Why, j.Strip, want, strip)
		}
	}
	const explicit = "Cache-Control: max-age=60"
	f(SetCookieShared, reason.SetCookie, nil)
	f(SetCookieShared, reason.SetCookie, nil, explicit)
	f(SetCookieShared, reason.SetCookie, nil, "Expires: "+at(minute))
	f(SetCookieShared, reason.SetCookie, nil, explicit+", must-revalidate")
	f(SetCookieShared, reason.None, nil, explicit+", public")
	f(SetCookieShared, reason.None, nil, "Cache-Control: s-maxage=60")
	f(SetCookieShared, reason.None, nil, "CDN-Cache-Control: max-age=60")
	f(SetCookieShared, reason.SetCookie, nil, "CDN-Cache-Control: max-age=x", explicit)

	f(SetCookieRefuse, reason.SetCookie, nil, explicit+", public")
	f(SetCookieRefuse, reason.SetCookie, nil, `CDN-Cache-Control: max-age=60, private="set-cookie"`)
	f(SetCookieStrip, reason.None, []string{"Set-Cookie"}, explicit)
	f(SetCookieStore, reason.None, nil, explicit)

	// Public does not stand in for a lifetime.
	f(SetCookieShared, reason.NoFreshness, nil, "Cache-Control: public")
	// No rule makes up for the origin's silence.
	for _, rule := range []SetCookie{SetCookieStrip, SetCookieStore} {
		f(rule, reason.NoFreshness, nil)
		f(rule, reason.NoFreshness, nil, "Last-Modified: "+at(-time.Hour), `ETag: "a"`)
	}
}

// Where nobody can tell for whom a response was made, the origin has to say so.
func TestRulesLeavePersonalResponsesAlone(t *testing.T) {
	o := Options{
		DefaultTTL: minute, ForcedTTL: minute, Heuristic: edge.Heuristic, Stale: edge.Stale, SetCookie: SetCookieStore,
		TTLByStatus: map[int]time.Duration{200: minute},
	}
	f := func(want reason.Reason, req RequestFacts, lines ...string) {
		t.Helper()
		if got := Judge(req, response(t, 200, lines...), o).Why; got != want {
			t.Errorf("%+v %q: got %q, want %q", req, lines, got, want)
		}
	}
	lm := "Last-Modified: " + at(-time.Hour)
	cookie := RequestFacts{Method: "GET", Cookie: true}
	f(reason.None, get, lm)
	f(reason.RequestCookie, cookie)
	f(reason.RequestCookie, cookie, lm, `ETag: "a"`)
	f(reason.NoFreshness, get, lm, "Set-Cookie: a=b")
	f(reason.Authorization, RequestFacts{Method: "GET", Authorization: true}, lm)
	f(reason.RequestCookie, cookie, "Cache-Control: max-age=0") // the forced one would apply
	f(reason.None, cookie, "Cache-Control: max-age=60")
	f(reason.None, cookie, "Cache-Control: no-cache", lm)
	f(reason.None, cookie, "Cache-Control: public", lm)
	if p := Judge(cookie, response(t, 200, "Cache-Control: public", lm), o).Policy; p.Lifetime != 0 {
		t.Errorf("with a cookie and public: got %v, want no lifetime", p.Lifetime)
	}
}
